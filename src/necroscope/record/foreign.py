"""Files of any kind into a store: which importer reads a file, and where what it tells goes.

Profiles are read in pieces by several processes; logs and counters by this one. A file that was imported before adds
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from necroscope.record.crew import Progress
from necroscope.record.importing import Imported, fingerprint_of, import_recording, imported_before
from necroscope.sense.host import Host
from necroscope.sense.importers.ahead import is_perf_data
from necroscope.sense.importers.rows import LogEvent, SignalsAt
from necroscope.sense.importers.source import NOTHING_TOLD, Placing
from necroscope.sense.perf.samples import SampleBatch
from necroscope.store.imported import Note, take_note
from necroscope.store.tables import Event
from necroscope.store.writer import Writer

if TYPE_CHECKING:
    from necroscope.sense.importers.sniff import Kind


@dataclass(frozen=True, slots=True)
class How:
    """What the user says about a file."""

    host: Host
    placing: Placing = NOTHING_TOLD
    kallsyms: Path | None = None
    jobs: int = 1


def import_file(writer: Writer, path: Path, how: How, progress: Progress = lambda done: None) -> tuple[Kind, Imported]:
    """Add a file to a store. `BadInput` for what nobody can read."""
    if is_perf_data(path):
        from necroscope.sense.importers.perf_data import PerfData

        opened = partial(PerfData, path, how.host, how.kallsyms)
        return "perf-data", import_recording(writer, path, opened, how.jobs, progress)
    from necroscope.sense.importers.sniff import kind_of

    kind = kind_of(path)
    if kind == "perf-script":
        from necroscope.sense.importers.perf_script import PerfScript

        return kind, import_recording(writer, path, lambda: PerfScript(path, how.placing), how.jobs, progress)
    return kind, _import_rows(writer, path, _reader(kind, path, how.placing), progress)


def _reader(kind: Kind, path: Path, placing: Placing) -> Any:
    """The importer of a file that is read from its beginning to its end."""
    if kind == "folded":
        from necroscope.sense.importers.folded import Folded

        return Folded(path, placing)
    if kind == "mpstat":
        from necroscope.sense.importers.mpstat import Mpstat

        return Mpstat(path, placing)
    if kind == "journal-json":
        from necroscope.sense.importers.journal_json import JournalJson

        return JournalJson(path, placing)
    if kind == "ray":
        from necroscope.sense.importers.ray_logs import RayLogs

        return RayLogs(path, placing)
    from necroscope.sense.importers.dmesg import Dmesg

    return Dmesg(path, placing)


def _import_rows(writer: Writer, path: Path, reader: Any, progress: Progress) -> Imported:
    mark = fingerprint_of(path)
    if (samples := imported_before(writer, mark)) is not None:
        return Imported(samples, already=True)
    writer.seal()
    before = {one.path.name for one in writer.segments}
    samples = events = 0
    for row in reader.rows():
        progress(getattr(reader, "progress", 0.0))
        if isinstance(row, SampleBatch):
            writer.add_samples(row)
            samples += len(row)
        elif isinstance(row, SignalsAt):
            writer.add_signals(row.at_ns, row.samples, row.source)
        elif isinstance(row, LogEvent):
            fields = (row.at_ns, row.kind, row.source, row.subject, row.text, row.uncertainty_ns)
            writer.add_events([Event(*fields)])
            events += 1
    writer.seal()
    made = tuple(one.path.name for one in writer.segments if one.path.name not in before)
    take_note(writer.folder, mark, Note(path.name, samples, made, whole=True))
    return Imported(samples, events, notes=reader.notes())
