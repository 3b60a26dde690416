"""Recordings that count from boot: the same loop's files land on the same seconds, and say by which clock.

recordings/perf-node7-20261118-11-31-48-2s.data was made by the loop that a node in UTC-08:00 runs, with 81 samples from
1795030309.26 to 1795030312.04 UTC (as both clocks of that machine showed), and .data.stacks by `perf script --header`.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from necroscope.sense.importers.file_name_times import NS, zone_ns
from necroscope.sense.importers.perf_script.importer import PerfScript
from necroscope.sense.importers.placement import Clocks, placement
from necroscope.sense.importers.profiles.perf_data import PerfData
from necroscope.sense.importers.source import Placing
from necroscope.sense.perf.samples import SampleBatch

FOLDER = Path(__file__).parent / "recordings"
NAME = "perf-node7-20261118-11-31-48-2s.data"
NAMED_S = 1_795_001_508  # 2026-11-18 11:31:48 as if it were UTC
FIRST_S, LAST_S = 1_795_030_309.26, 1_795_030_312.04
COPIED_NS = 1_800_000_000 * NS


def copies(folder: Path, *modified_ns: int) -> list[Path]:
    """The recording and its text, with these dates."""
    paths = [folder / NAME, folder / f"{NAME}.stacks"]
    for path, at_ns in zip(paths, modified_ns, strict=True):
        shutil.copy(FOLDER / path.name, path)
        os.utime(path, ns=(at_ns, at_ns))
    return paths


def times(path: Path, placing: Placing | None = None) -> tuple[list[int], tuple[str, ...]]:
    """UTC times of all samples, and what is said."""
    opened = PerfData if path.suffix == ".data" else PerfScript
    with opened(path, placing=placing or Placing()) as recording:
        batches = [row for row in recording.rows() if isinstance(row, SampleBatch)]
        offset_ns, exact = recording.utc_offset_ns()
        assert not exact
        return [at + offset_ns for batch in batches for at in batch.at_ns.tolist()], recording.notes()


def test_copies_of_a_loop_s_files_land_on_the_seconds_of_their_names(tmp_path: Path) -> None:
    data, stacks = copies(tmp_path, COPIED_NS, COPIED_NS + 60 * NS)
    (ours, said), (theirs, too) = times(data), times(stacks)
    assert len(ours) == len(theirs) == 81
    assert ours[0] == NAMED_S * NS
    assert all(abs(one - two) < 2_000 for one, two in zip(ours, theirs, strict=True)), "perf prints microseconds"
    for notes in (said, too):
        assert any("in the file's name: 2026-11-18 11:31:48 UTC, as no zone is given" in note for note in notes)
        assert any("give or take 2 s" in note for note in notes)


def test_the_zone_that_is_given_makes_utc_of_them(tmp_path: Path) -> None:
    for path in copies(tmp_path, COPIED_NS, COPIED_NS):
        found, notes = times(path, Placing(zone_ns=zone_ns("-08:00")))
        assert 0 <= FIRST_S - found[0] / NS <= 2
        assert any("2026-11-18 11:31:48 UTC-08:00, as given" in note for note in notes)


def test_a_recording_that_has_its_own_date_tells_the_zone(tmp_path: Path) -> None:
    """A copy with its date, and its text beside it, packed."""
    data, stacks = copies(tmp_path, int(LAST_S * NS), COPIED_NS)
    for path in (data, stacks):
        found, notes = times(path)
        assert 0 <= FIRST_S - found[0] / NS <= 2
        assert any("UTC-08:00, which fits the file's date" in note for note in notes)


def test_without_a_time_in_the_name_the_header_tells(tmp_path: Path) -> None:
    path = tmp_path / "out.stacks"
    shutil.copy(FOLDER / f"{NAME}.stacks", path)
    found, notes = times(path, Placing(zone_ns=zone_ns("-08:00")))
    assert abs(found[-1] / NS - LAST_S) < 1
    assert any("taken from its header: 2026-11-18 11:31:52 UTC-08:00, as given" in note for note in notes)


def test_a_name_that_contradicts_the_header_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "analysed-20270105-101010.stacks"
    shutil.copy(FOLDER / f"{NAME}.stacks", path)
    found, _ = times(path)
    assert abs(found[-1] / NS - (LAST_S - 8 * 3600)) < 1


def test_without_either_the_file_s_date_is_the_end(tmp_path: Path) -> None:
    path = tmp_path / "perf.data"
    shutil.copy(FOLDER / NAME, path)
    os.utime(path, ns=(COPIED_NS, COPIED_NS))
    found, notes = times(path)
    assert 0 <= COPIED_NS - found[-1] < NS
    assert any("guessed from the file's date, 2027-01-15 08:00:00 UTC" in note for note in notes)


def test_what_is_known_for_sure_counts_most() -> None:
    clocks = Clocks(NAME, lambda: 5 * NS, lambda: 9 * NS, COPIED_NS, COPIED_NS, COPIED_NS, offset_ns=7)
    assert placement(clocks, Placing()).offset_ns == 7
    assert placement(clocks, Placing(at_ns=20 * NS)).offset_ns == 15 * NS
    assert placement(clocks, Placing(clock_offset_ns=3)).offset_ns == 3
    assert all(placement(clocks, one).said == "" for one in (Placing(), Placing(at_ns=20 * NS)))
