"""`necroscope import`."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from necroscope.cli.shared.notes import say
from necroscope.cli.shared.progress import progress
from necroscope.cli.shared.times import RULE, Instant, Zone, in_utc
from necroscope.clock import NS
from necroscope.errors import BadInput

if TYPE_CHECKING:
    from necroscope.record.imports.perf_recordings import Imported
from necroscope.sense.host import Host
from necroscope.sense.importers.read_ahead import ReadAhead, is_perf_data


@click.command(name="import", epilog=RULE)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
@click.option("--store", type=click.Path(path_type=Path, file_okay=False), help="Folder to import into.")
@click.option(
    "--kallsyms", type=click.Path(path_type=Path, dir_okay=False), help="Kernel symbols of the recorded node."
)
@click.option("--host", "only_host", default="", help="Only what this host said, in logs of several.")
@click.option("--at", "at_ns", type=Instant(), help="When the first thing in the file was, for files that do not say.")
@click.option("--clock-offset", "offset_s", type=float, help="Seconds to add to the file's times to get UTC.")
@click.option(
    "--zone",
    "zone_ns",
    type=Zone(),
    help="Zone of local times, in logs and in names of perf's files: -08:00; else UTC.",
)
@click.option("--jobs", type=click.IntRange(min=1), help="Processes that read a file; one for each CPU by default.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document (docs/json.md).")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing.")
@click.option("--no-color", is_flag=True, help="Neither colours nor bold (NO_COLOR is honoured too).")
def import_files(
    files: tuple[Path, ...],
    store: Path | None,
    kallsyms: Path | None,
    only_host: str,
    at_ns: int | None,
    offset_s: float | None,
    zone_ns: int | None,
    jobs: int | None,
    as_json: bool,
    quiet: bool,
    no_color: bool,
) -> None:
    """Import what other tools wrote into a store (docs/importing.md).

    perf.data, `perf script` text, folded stacks, pprof, gProfiler's .col, mpstat and sadf JSON, dmesg, `journalctl -o
    json`, Ray's logs; also packed with gzip, xz, bzip2 or zstd. What a file is, is told from its contents. Kernel
    frames of perf.data are named when it was recorded on this kernel, or with --kallsyms of the recorded node. A file
    that was imported before adds nothing; with other options (--at, --clock-offset, --zone, --host, --kallsyms) it
    replaces what it brought. Files that cannot be read are told, the others are imported; so is what could not be used.

    \b
    Examples:
      necroscope import perf.data --store ./incident
      necroscope import perf-*.data --kallsyms node7.kallsyms --store ./node7
      necroscope import perf-node7-20260102-*.data.stacks --zone -08:00 --store ./node7
      necroscope import perf.script.gz mpstat.json journal.json --store ./node7
      necroscope import dmesg.txt --clock-offset 1767300000 --store ./node7
    """
    if not quiet:
        say(in_utc([at_ns]))
    jobs = jobs or len(os.sched_getaffinity(0))
    host = ReadAhead() if jobs > 1 and kallsyms is None and any(map(is_perf_data, files)) else Host()
    # NumPy would start a thread on every CPU for algebra that nobody does here.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from necroscope.record.imports.file_importers import How, import_file
    from necroscope.record.imports.perf_recordings import reuse_memory
    from necroscope.sense.cpu.times import Cpu
    from necroscope.sense.importers.source import Placing
    from necroscope.show.plain import plain, valid
    from necroscope.store.place import to_write
    from necroscope.store.write.writer import Writer

    reuse_memory()
    how = How(host, Placing(only_host, at_ns, _nanoseconds(offset_s), zone_ns), kallsyms, jobs)
    writer = Writer(to_write(store), signals=Cpu.signals)
    bad: list[BadInput] = []
    entries: list[dict[str, Any]] = []
    try:
        for file in files:
            try:
                with progress(file.name, no_color, quiet or as_json) as on_progress:
                    kind, done = import_file(writer, file, how, on_progress)
            except BadInput as error:
                bad.append(error)
                entries.append({"file": str(file), "error": error.message, "hint": error.hint})
                if len(files) > 1 and not as_json:
                    click.echo(plain(f"necroscope: {error.message}"), err=True)
                continue
            entries.append(_entry(file, kind, done))
            if not quiet and not as_json:
                click.echo(plain(f"{file}: {_summary(kind, done)}"))
    finally:
        writer.close(merge=False)
    if as_json and not quiet:
        click.echo(json.dumps(valid({"schema": "necroscope.import/1", "files": entries}), indent=2))
    if bad and len(files) > 1:
        raise BadInput(f"{len(bad)} of {len(files)} files were not imported.", bad[0].hint)
    if bad:
        raise bad[0]


def _nanoseconds(offset_s: float | None) -> int | None:
    if offset_s is None:
        return None
    if not math.isfinite(offset_s):
        raise BadInput(f"A clock offset of {offset_s} is no number of seconds.", "write it as 3600 or -7200.5")
    return round(offset_s * NS)


def _entry(file: Path, kind: str, done: Imported) -> dict[str, Any]:
    """A file in the JSON document; a note that begins with a number is a count of what it tells of."""
    notes = [{"count": counted(note), "text": note} for note in done.notes]
    return {"file": str(file), "kind": kind, **asdict(done), "notes": notes}


def counted(note: str) -> int | None:
    """The number that a note begins with."""
    number = note.partition(" ")[0].replace(",", "")
    return int(number) if number.isdecimal() else None


def _summary(kind: str, done: Imported) -> str:
    of = "stack" if kind in ("folded", "pprof") else "sample"
    profiles = ("perf-data", "perf-script", "folded", "pprof")
    counts = [f"{done.samples:,} {of}s"] if done.samples or kind in profiles else []
    counts += [f"{done.events:,} events"] if done.events else []
    counts += [f"what the cores did at {done.looks:,} times"] if done.looks else []
    parts = [kind, *(["already imported"] if done.already else counts or ["no line tells of anything that matters"])]
    return "; ".join([", ".join(parts), *done.notes])
