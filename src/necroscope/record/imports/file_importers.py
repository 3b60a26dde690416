"""Files of any kind into a store: which importer reads a file, and where its contents go.

Profiles are read in pieces by several processes; logs and counters by this one. A file that was imported before adds
nothing; with other options, it replaces what it brought.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from necroscope.errors import BadInput
from necroscope.record.imports.perf_recordings import (
    REPLACED,
    Imported,
    Recording,
    ends,
    fingerprint_of,
    import_recording,
    imported_before,
    take_back,
)
from necroscope.record.imports.worker_pool import Progress
from necroscope.sense.host import Host
from necroscope.sense.importers.read_ahead import is_perf_data
from necroscope.sense.importers.rows import LogEvent, SignalsAt
from necroscope.sense.importers.source import CUT_SHORT, NO_PLACING, Placing, check_times
from necroscope.sense.perf.samples import SampleBatch
from necroscope.store.format.core_times import LONGEST_NS
from necroscope.store.write.imported import Note, take_note
from necroscope.store.write.writer import Writer

if TYPE_CHECKING:
    from necroscope.sense.importers.sniff import Kind


_TIMELESS = ("folded", "pprof")


@dataclass(frozen=True, slots=True)
class How:
    """What the user declares about a file."""

    host: Host
    placing: Placing = NO_PLACING
    kallsyms: Path | None = None
    jobs: int = 1


def import_file(writer: Writer, path: Path, how: How, progress: Progress = lambda done: None) -> tuple[Kind, Imported]:
    """Add a file to a store. `BadInput` for what nobody can read."""
    if is_perf_data(path):
        return "perf-data", _perf_data(writer, path, how, progress)
    from necroscope.sense.importers.sniff import kind_of

    kind = kind_of(path)
    if kind == "perf-data":
        from necroscope.sense.importers.unpacked import unpacked

        plain, cut = unpacked(path, writer.folder)
        with plain:
            done = _perf_data(writer, path, how, progress, plain)
        return kind, replace(done, notes=(*done.notes, CUT_SHORT)) if cut and CUT_SHORT not in done.notes else done
    if kind == "perf-script":
        opener = partial(_script, path, how.placing)
        return kind, import_recording(writer, path, opener, how.jobs, progress, _options(how.placing))
    if kind in _TIMELESS and how.placing.zone_ns is not None:
        raise BadInput(f"{path} tells no local time that --zone could be of.", "say with --at when it was")
    return kind, _import_rows(writer, path, _reader(kind, path, how.placing), progress, _options(how.placing))


def _perf_data(writer: Writer, path: Path, how: How, progress: Progress, plain: BinaryIO | None = None) -> Imported:
    from necroscope.sense.importers.profiles.perf_data import PerfData

    opened = partial(PerfData, path, how.host, how.kallsyms, how.placing, plain)
    options = _options(how.placing, how.kallsyms)
    try:
        return import_recording(writer, path, opened, how.jobs, progress, options)
    except BadInput as error:
        # Who finds damage inside does not know which file it is.
        if str(path) in error.message:
            raise
        raise BadInput(f"{path}: {error.message}", error.hint) from error


def _script(path: Path, placing: Placing) -> Recording:
    """The importer of `perf script` text, with times or without."""
    from necroscope.sense.importers.perf_script.importer import NoTimes, PerfScript
    from necroscope.sense.importers.perf_script.timeless import TimelessScript

    try:
        return PerfScript(path, placing)
    except NoTimes:
        return TimelessScript(path, placing)


def _options(placing: Placing, kallsyms: Path | None = None) -> str:
    """What the user says about a file, as text: the same words, the same rows. Empty when nothing is said."""
    words = asdict(placing) | {"kallsyms": fingerprint_of(kallsyms) if kallsyms else None}
    said = {name: word for name, word in words.items() if word not in (None, "")}
    return json.dumps(said, sort_keys=True) if said else ""


def _reader(kind: Kind, path: Path, placing: Placing) -> Any:
    """The importer of a file that is read from its beginning to its end."""
    if kind == "folded":
        from necroscope.sense.importers.profiles.folded import Folded

        return Folded(path, placing)
    if kind == "pprof":
        from necroscope.sense.importers.profiles.pprof import Pprof

        return Pprof(path, placing)
    if kind == "mpstat":
        from necroscope.sense.importers.sysstat.mpstat import Mpstat

        return Mpstat(path, placing)
    if kind == "journal-json":
        from necroscope.sense.importers.logs.journal_json import JournalJson

        return JournalJson(path, placing)
    if kind == "ray":
        from necroscope.sense.importers.logs.ray_logs import RayLogs

        return RayLogs(path, placing)
    from necroscope.sense.importers.logs.dmesg import Dmesg

    return Dmesg(path, placing)


def _import_rows(writer: Writer, path: Path, reader: Any, progress: Progress, options: str) -> Imported:
    mark = fingerprint_of(path)
    before = imported_before(writer, path, mark, options)
    if before is not None and before.options == options:
        return Imported(before.samples, already=True)
    writer.seal()
    others = {one.path.name for one in writer.segments}
    try:
        samples, events, looks = _keep(writer, path, reader, progress)
    except BaseException:
        take_back(writer, _made(writer, others))
        raise
    made = _made(writer, others)
    if before is not None:
        take_back(writer, before.segments)
    take_note(writer.folder, mark, Note(path.name, samples, made, True, options))
    return Imported(samples, events, looks, notes=reader.notes() + ((REPLACED,) if before is not None else ()))


def _keep(writer: Writer, path: Path, reader: Any, progress: Progress) -> tuple[int, int, int]:
    """Put the rows where they belong; how many samples, events and looks at cores there were."""
    samples = events = looks = 0
    for row in reader.rows():
        progress(getattr(reader, "progress", 0.0))
        check_times(path, *ends(row))
        if isinstance(row, SampleBatch):
            writer.add_samples(row)
            samples += len(row)
        elif isinstance(row, SignalsAt):
            writer.add_signals(row.at_ns, row.samples, row.source, LONGEST_NS)
            looks += 1
        elif isinstance(row, LogEvent):
            writer.add_events([row])
            events += 1
    return samples, events, looks


def _made(writer: Writer, others: set[str]) -> tuple[str, ...]:
    """The segments of what was added, sealed now."""
    writer.seal()
    return tuple(one.path.name for one in writer.segments if one.path.name not in others)
