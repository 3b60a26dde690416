"""Importing perf.data: any number of processes gives the same store, twice is once, an end at any moment is safe."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from perf import recorded

from necroscope.errors import BadInput, Unavailable
from necroscope.record.imports import perf_recordings
from necroscope.record.imports.perf_recordings import Imported, import_recording
from necroscope.sense.importers.perf_script.importer import PerfScript
from necroscope.sense.importers.profiles.perf_data import PerfData
from necroscope.sense.perf.samples import SampleBatch
from necroscope.store.format.segment import read_segment
from necroscope.store.read.catalog import all_segments
from necroscope.store.read.reader import Store
from necroscope.store.write import imported
from necroscope.store.write.writer import Writer

FILE = recorded.FOLDER / "file.data"


def samples_of(path: Path) -> int:
    with PerfData(path) as data:
        return sum(len(row) for row in data.rows() if isinstance(row, SampleBatch))


def rows(folder: Path) -> Counter[str]:
    """Every sample of a store with its frames, and every event."""
    found: Counter[str] = Counter()
    for segment in Store(folder).snapshot().segments:
        tables = read_segment(segment)
        frames = dict(zip(*(tables["stacks"][name].to_pylist() for name in ("stack_id", "frames")), strict=True))
        for row in tables["samples"].to_pylist():
            found[repr((row, frames[row["stack_id"]]))] += 1
        found.update(map(repr, tables["events"].to_pylist()) if "events" in tables else ())
    return found


def import_into(folder: Path, path: Path, jobs: int = 1) -> Imported:
    writer = Writer(folder)
    try:
        return import_recording(writer, path, lambda: PerfData(path), jobs)
    finally:
        writer.close(merge=False)


@pytest.mark.parametrize("name", ["file", "pipe", "zstd"])
def test_any_number_of_processes_gives_the_same_store(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(perf_recordings, "_PIECE_BYTES", 1)
    path = recorded.FOLDER / f"{name}.data"
    one = import_into(tmp_path / "one", path)
    many = import_into(tmp_path / "many", path, jobs=3)
    assert one == many
    assert one.samples == samples_of(path) > 0
    assert rows(tmp_path / "one") == rows(tmp_path / "many")
    pieces = len(all_segments(tmp_path / "many"))
    assert pieces == (3 if name == "file" else 1), "a stream and a compressed recording are one piece"


def test_a_second_import_adds_nothing(tmp_path: Path) -> None:
    copy = tmp_path / "copy.data"
    copy.write_bytes(FILE.read_bytes())
    first = import_into(tmp_path / "store", FILE)
    before = all_segments(tmp_path / "store")
    assert import_into(tmp_path / "store", copy) == Imported(first.samples, already=True)
    assert all_segments(tmp_path / "store") == before
    assert not import_into(tmp_path / "store", recorded.FOLDER / "pipe.data").already


def test_what_retention_took_can_be_imported_again(tmp_path: Path) -> None:
    import_into(tmp_path, FILE)
    writer = Writer(tmp_path)
    writer.take_back([one.path.name for one in writer.segments])
    writer.close()
    assert not import_into(tmp_path, FILE).already
    assert sum(rows(tmp_path).values()) >= samples_of(FILE)


def test_an_import_that_ended_while_its_segments_appeared_is_taken_back_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(perf_recordings, "_PIECE_BYTES", 1)

    def publish(writer: Writer, staged: list[object]) -> None:
        next(iter(staged)).publish()  # type: ignore[attr-defined]
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Writer, "publish", publish)
        with pytest.raises(KeyboardInterrupt):
            import_into(tmp_path, FILE, jobs=3)
    assert len(all_segments(tmp_path)) == 1
    assert import_into(tmp_path, FILE, jobs=3).samples == samples_of(FILE)
    import_into(tmp_path / "fresh", FILE)
    assert rows(tmp_path) == rows(tmp_path / "fresh")


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_full_disk_is_a_sentence_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    monkeypatch.setattr(perf_recordings, "_PIECE_BYTES", 1)
    real = os.fsync
    monkeypatch.setattr(
        os, "fsync", lambda fd: no_room() if "samples" in str(Path(f"/proc/self/fd/{fd}").readlink()) else real(fd)
    )
    with pytest.raises(Unavailable, match="cannot be written: No space left on device"):
        import_into(tmp_path, FILE, jobs)
    assert list((tmp_path / "segments").iterdir()) == []
    assert not (tmp_path / "imported").exists()


def no_room() -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("name", ["absent", "folder", "text"])
def test_what_is_no_recording_is_refused_with_a_sentence(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("hello")
    with pytest.raises(BadInput):
        import_into(tmp_path / "store", tmp_path / name)


def test_killed_at_any_moment_the_store_opens_and_the_next_import_is_whole(tmp_path: Path) -> None:
    chance = random.Random(1)
    program = (
        "import sys; from pathlib import Path\n"
        "from necroscope.record.imports import perf_recordings; perf_recordings._PIECE_BYTES = 1\n"
        "from necroscope.store.write.writer import Writer\n"
        "writer = Writer(Path(sys.argv[1])); print('ready', flush=True)\n"
        "from necroscope.sense.importers.profiles.perf_data import PerfData\n"
        "path = Path(sys.argv[2]); perf_recordings.import_recording(writer, path, lambda: PerfData(path), 2)\n"
        "writer.close(merge=False)\n"
    )
    for _ in range(5):
        with subprocess.Popen(
            [sys.executable, "-c", program, tmp_path, FILE], stdout=subprocess.PIPE, text=True
        ) as running:
            assert running.stdout is not None
            running.stdout.readline()
            time.sleep(chance.random() * 0.6)
            running.send_signal(signal.SIGKILL)
        rows(tmp_path)
    done = import_into(tmp_path, FILE)
    assert done.samples == samples_of(FILE)
    import_into(tmp_path / "fresh", FILE)
    assert rows(tmp_path) == rows(tmp_path / "fresh")


def test_the_note_names_the_segments(tmp_path: Path) -> None:
    done = import_into(tmp_path, FILE)
    note = imported.note_of(tmp_path, imported.fingerprint(FILE))
    assert note == imported.Note(
        "file.data", done.samples, tuple(one.path.name for one in all_segments(tmp_path)), whole=True
    )


def test_notes_of_pieces_are_added_up() -> None:
    notes = (
        "the file ends early",
        "1,200 records were lost",
        "3 lines are odd",
        "the file ends early",
        "4 records were lost",
    )
    assert perf_recordings.added_up(notes) == ("the file ends early", "1,204 records were lost", "3 lines are odd")


def test_a_part_of_several_processes_that_understands_nothing_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(perf_recordings, "_PIECE_BYTES", 1)
    path = tmp_path / "perf.txt"
    sample = "sh 7/7 [001] {}: 10 cpu-clock: \n\tffffffff8127a6d0 f+0x5 ([kernel.kallsyms])\n\n"
    path.write_text("".join(sample.format(f"{1767323045 + n}.000000") + "!nonsense\n" for n in range(50)))
    writer = Writer(tmp_path / "store")
    try:
        done = import_recording(writer, path, lambda: PerfScript(path), 3)
    finally:
        writer.close(merge=False)
    assert done.samples == 50
    assert any("lines could not be understood" in note for note in done.notes)
