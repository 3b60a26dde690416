"""`--against FILE`: another recording, whatever wrote it, as what a window is compared with."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from necroscope.cli.shared.sources import open_recording
from necroscope.errors import BadInput

if TYPE_CHECKING:
    from necroscope.query.profile.profile import Profile
    from necroscope.query.samples.rolled import Detail
    from necroscope.query.select import Select

F = TypeVar("F", bound=Callable[..., Any])
WORDS = ("usual", "none")
_COMPARED = "perf.data, `perf script` text, folded stacks, pprof, a bundle, or the folder of a store"
_ARCHIVE_AT, _ARCHIVE = 257, b"ustar"


class Against(click.ParamType[str]):
    """`usual`, `none`, or the path of a file."""

    name = "usual|none|FILE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in WORDS and not Path(value).exists():
            self.fail(f"{value!r} is neither usual nor none, nor a file; write the path of {_COMPARED}", param, ctx)
        return str(value)


def is_file(against: str) -> bool:
    """Whether a window is compared with something from elsewhere."""
    return against not in WORDS


def compared_with(made: Profile, given: str, with_idle: bool, detail: Detail) -> Profile:
    """A window with all of another recording as its baseline."""
    from necroscope.query.extent import extent
    from necroscope.query.profile.against import against, blocks
    from necroscope.query.profile.profile import profile
    from necroscope.store.read.reader import Store

    select = made.select
    if select.pids or select.tids:
        raise BadInput(f"The same pid is another process in {given}.", "give --process with a name")
    with _store(Path(given)) as folder:
        store = Store(folder)
        try:
            window = extent(store.snapshot())
        except BadInput as error:
            raise BadInput(f"{given} holds no samples to compare with.", f"give {_COMPARED}") from error
        # What was left to choice in the window is left to choice here: cycles and clocks both tell time.
        first, *others = blocks(window)
        chosen = replace(select, window=first, events=_asked(select))
        other = profile(store, chosen, others, with_idle=with_idle, detail=detail)
        if not other.timed:
            other = profile(store, replace(chosen, window=window), with_idle=with_idle, detail=detail)
        if not other.counts.window.size:
            raise _nothing(store, replace(chosen, window=window), given)
        return against(made, other, given)


def _asked(select: Select) -> frozenset[str]:
    from necroscope.query.select import FOLDED
    from necroscope.sense.perf.event_names import is_time

    return frozenset(one for one in select.events if not (one == FOLDED or is_time(one)))


def _nothing(store: Any, select: Select, given: str) -> BadInput:
    from necroscope.query.samples.event_kinds import kinds

    there = sorted(kinds(store.snapshot(select.window), select.window))
    wanted = f"of {', '.join(sorted(select.events))}" if select.events else "of that choice"
    holds = f"it has samples of {', '.join(there[:5])}" if there else "it has none at all"
    return BadInput(f"{given} cannot be compared: it has no samples {wanted}.", f"{holds}; see --event-type")


@contextmanager
def _store(path: Path) -> Iterator[Path]:
    """The folder of a store that holds what is in a file; one that is made for it is gone afterwards."""
    if path.is_dir():
        yield path
    elif _is_bundle(path):
        with open_recording(None, path) as folder:
            assert folder is not None
            yield folder
    else:
        with tempfile.TemporaryDirectory(prefix="necroscope-against-") as folder:
            _import(path, Path(folder))
            yield Path(folder)


def _is_bundle(path: Path) -> bool:
    from necroscope.sense.importers.source import Source

    with Source(path) as source:
        head = source.beginning(_ARCHIVE_AT + len(_ARCHIVE))
    return head[_ARCHIVE_AT:].startswith(_ARCHIVE)


def _import(path: Path, folder: Path) -> None:
    from necroscope.record.imports.file_importers import How, import_file
    from necroscope.sense.cpu.times import Cpu
    from necroscope.sense.host import Host
    from necroscope.sense.importers.placement import WHEN
    from necroscope.show.plain import plain
    from necroscope.store.write.writer import Writer

    writer = Writer(folder, signals=Cpu.signals)
    try:
        _, done = import_file(writer, path, How(Host()))
    finally:
        writer.close(merge=False)
    for note in done.notes:
        if note.startswith(WHEN):  # when it was does not matter here
            continue
        click.echo(plain(f"necroscope: {path}: {note}"), err=True)
