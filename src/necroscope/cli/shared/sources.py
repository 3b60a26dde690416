"""What a verb reads: this host, a captured folder, a recording, or a bundle unpacked for the time being."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from necroscope.cli.shared.notes import all_said, say
from necroscope.cli.shared.times import Moment, in_utc
from necroscope.errors import BadInput
from necroscope.sense.host import Host


@contextmanager
def open_host(root: Path | None, bundle: Path | None) -> Iterator[Host]:
    """The host to read; a bundle is unpacked into a temporary folder that is gone afterwards."""
    if root is not None and bundle is not None:
        raise BadInput("--root and --bundle exclude each other.", "give one of them")
    if bundle is None:
        yield Host() if root is None else Host(root)
        return
    with _unpacked(bundle) as folder:
        if (folder / "necroscope" / "store").is_dir():
            raise BadInput(
                f"{bundle} holds a window of a recording, no instant of a host.",
                f"read it with `necroscope events --bundle {bundle}`, or with top, flame, heatmap, sql, export",
            )
        yield Host(folder)


@contextmanager
def open_recording(store: Path | None, bundle: Path | None) -> Iterator[Path | None]:
    """The folder of the recording to read: what --store says, or what is in a bundle, for as long as it is read."""
    if bundle is None:
        yield store
        return
    if store is not None:
        raise BadInput("--store and --bundle exclude each other.", "give one of them")
    with _unpacked(bundle) as folder:
        from necroscope.store.bundle.recording import recording

        yield recording(folder, bundle)


def store_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--store` and `--bundle`. The function gets the folder of a store as `store`, or None for the usual place.

    Of a bundle, times that count from now count from the end of its recording.
    """

    @functools.wraps(function)
    def opened(**arguments: Any) -> Any:
        bundle = arguments.pop("bundle")
        with all_said(), open_recording(arguments.pop("store"), bundle) as store:
            if bundle is not None and store is not None:
                arguments = _from_its_end(arguments, store)
            if not arguments.get("quiet"):
                say(in_utc(arguments.values(), bundle is not None))
            return function(store=store, **arguments)

    options = (
        click.option(
            "--store", type=click.Path(path_type=Path), help="Folder of the recording (default: $NECROSCOPE_STORE)."
        ),
        click.option(
            "--bundle", type=click.Path(path_type=Path), help="Read a recording that `necroscope bundle` packed."
        ),
    )
    made: Callable[..., Any] = opened
    for option in reversed(options):
        made = option(made)
    return made


def _from_its_end(arguments: dict[str, Any], store: Path) -> dict[str, Any]:
    """The arguments, with relative times as of the end of a recording."""
    relative = {name: value for name, value in arguments.items() if isinstance(value, Moment) and value.relative}
    if not relative:
        return arguments
    from necroscope.query.extent import extent_of_all
    from necroscope.store.read.reader import Store

    whole = extent_of_all(Store(store).snapshot())
    return arguments if whole is None else arguments | {name: at.seen_from(whole[1]) for name, at in relative.items()}


@contextmanager
def _unpacked(bundle: Path) -> Iterator[Path]:
    from necroscope.store.bundle.archive import unpack

    with tempfile.TemporaryDirectory(prefix="necroscope-bundle-") as folder:
        unpack(bundle, Path(folder))
        yield Path(folder)
