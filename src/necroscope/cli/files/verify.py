"""`necroscope verify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from necroscope.cli.shared.options import output_options
from necroscope.cli.shared.progress import progress
from necroscope.cli.shared.sources import store_options
from necroscope.errors import BadInput

if TYPE_CHECKING:
    from necroscope.store.read.check import Checked

_INTACT, _DAMAGED, _CANNOT_TELL = 0, 1, 3


@click.command()
@store_options
@click.option(
    "--set-aside", is_flag=True, help="Move damaged segments to the store's folder aside/. Nothing is deleted."
)
@output_options
@click.pass_context
def verify(
    context: click.Context,
    store: Path | None,
    set_aside: bool,
    as_json: bool,
    no_color: bool,
    quiet: bool,
) -> int:
    """Is the recording what was recorded? Reads every byte, and compares it with what the segments' manifests say.

    Exit code 0: intact. 1: something is damaged or lost. 2: this is no store. 3: nothing is damaged as far as can be
    told, but parts cannot be verified: those of earlier versions have no manifest, others may not be readable.

    \b
    Examples:
      necroscope verify
      necroscope verify --store /var/lib/necroscope --set-aside
      necroscope verify --bundle incident.ncb --json | jq .damaged
    """
    from necroscope.store.place import to_read
    from necroscope.store.read.check import check_store

    packed = context.params.get("bundle") is not None
    if set_aside and packed:
        raise BadInput("Nothing of a bundle can be set aside.", "leave --set-aside out, and make the bundle again")
    with progress("verifying", no_color, quiet or as_json) as on_progress:
        found = check_store(to_read(store), on_progress, set_aside)
    if packed:
        # Unpacking verified the checksum over all of it.
        found.unverifiable.clear()
    if not quiet:
        _print_json(found) if as_json else _print_lines(found)
    return _exit_code(found)


def _exit_code(found: Checked) -> int:
    if found.damaged:
        return _DAMAGED
    return _CANNOT_TELL if found.unverifiable or found.unreadable else _INTACT


def _print_json(found: Checked) -> None:
    import json

    document = {
        "schema": "necroscope.verified/1",
        "verdict": ("intact", "damaged", "", "cannot-tell")[_exit_code(found)],
        "parts": found.parts,
        "bytes": found.bytes,
        "damaged": [
            {"path": str(one.path), "what": one.what, "aside": str(one.aside) if one.aside else None}
            for one in found.damaged
        ],
        "unverifiable": list(map(str, found.unverifiable)),
        "unreadable": found.unreadable,
        "foreign": list(map(str, found.foreign)),
        "aside": list(map(str, found.aside)),
    }
    click.echo(json.dumps(document, indent=2))


def _print_lines(found: Checked) -> None:
    from necroscope.quantity import plural, size
    from necroscope.show.plain import plain

    for one in found.damaged:
        moved = f"; set aside as {one.aside}" if one.aside else ""
        click.echo(plain(f"damaged: {one.path}: {one.what}{moved}"))
    for reason in found.unreadable:
        click.echo(plain(f"cannot be read: {reason}"))
    for path in found.foreign:
        click.echo(plain(f"does not belong here, and is passed over: {path}"))
    if found.unverifiable:
        older = plural(len(found.unverifiable), "part")
        click.echo(f"not verifiable: {older} of an earlier version, without a manifest; their pages are right")
    if found.aside:
        click.echo(f"set aside before: {plural(len(found.aside), 'segment')} in aside/")
    looked = f"{plural(found.parts, 'part')}, {size(found.bytes)}"
    words = ("intact", "damaged", "", "not everything can be told")[_exit_code(found)]
    click.echo(f"{words}: {looked}")
