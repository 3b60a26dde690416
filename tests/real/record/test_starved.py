"""perf killed, hanging or missing; perf, the recorder or its core taken away: told, survived, little or nothing lost.

`bench/starved.py` measures the same with more runs.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import time
from itertools import pairwise
from pathlib import Path

import pytest

from stage.recorders import ask, events_of, load, perf_of, recorder, sampled, stop, wait, wait_for_samples

pytestmark = [pytest.mark.root, pytest.mark.skipif(not shutil.which("perf"), reason="needs perf (Debian: linux-perf)")]

NS = 1_000_000_000
ENDS = re.compile(r"no samples were taken from (\S+) to (\S+) \((\d+\.\d) s\): (.*)")


def _longest_pause_s(store: Path, pid: int) -> float:
    times = [row["at_ns"] for row in ask(store, f"select at_ns from samples where pid = {pid} order by at_ns")]
    return max(after - before for before, after in pairwise(times)) / NS


def test_a_killed_perf_is_started_again_and_the_gap_told(tmp_path: Path) -> None:
    with load() as burner, recorder(tmp_path) as process:
        wait_for_samples(tmp_path)
        perf = perf_of(process.pid)
        assert perf is not None
        os.kill(perf, signal.SIGKILL)
        killed_ns = time.time_ns()
        wait(lambda: sampled(tmp_path, killed_ns + NS), "samples after the kill", 20.0)
        assert perf_of(process.pid) not in (None, perf)
        stop(process)
    assert [row["text"] for row in events_of(tmp_path, "perf-ended")] == ["perf ended by itself"]
    assert len(events_of(tmp_path, "perf-started")) == 2
    (gap,) = events_of(tmp_path, "recorder-gap", "no samples%")
    match = ENDS.fullmatch(gap["text"])
    assert match is not None
    assert (gap["subject"], match[4]) == ("perf", "perf ended by itself")
    assert 0 <= killed_ns - gap["at_ns"] < 3 * NS
    assert float(match[3]) == pytest.approx(_longest_pause_s(tmp_path, burner), abs=0.3)


def test_a_hanging_perf_is_ended_after_ten_seconds_and_gives_what_it_had(tmp_path: Path) -> None:
    with load() as burner, recorder(tmp_path) as process:
        wait_for_samples(tmp_path)
        perf = perf_of(process.pid)
        assert perf is not None
        os.kill(perf, signal.SIGSTOP)
        wait(lambda: bool(events_of(tmp_path, "perf-ended")), "the end of the hanging perf", 25.0)
        wait_for_samples(tmp_path)
        stop(process)
    assert "did not answer for 10 s" in events_of(tmp_path, "perf-ended")[0]["text"]
    (gap,) = events_of(tmp_path, "recorder-gap", "no samples%")
    match = ENDS.fullmatch(gap["text"])
    assert match is not None
    assert float(match[3]) < 6.0, "what was in perf's rings while it hung is there"
    assert _longest_pause_s(tmp_path, burner) == pytest.approx(float(match[3]), abs=0.3)


def test_a_missing_perf_is_told_once_and_taken_when_it_comes(tmp_path: Path) -> None:
    store, programs = tmp_path / "store", tmp_path / "programs"
    programs.mkdir()
    perf, folder = shutil.which("perf"), str(programs)
    assert perf is not None
    others = {name: shutil.which(name) for name in ("sh", "mount", "unshare")}
    for name, path in others.items():
        (programs / name).symlink_to(str(path))
    with load(), recorder(store, env={"NECROSCOPE_PATH": folder}) as process:
        wait(lambda: bool(events_of(store, "perf-unavailable")), "the complaint", 10.0)
        time.sleep(4.0)
        (programs / "perf").symlink_to(perf)
        wait_for_samples(store, 30.0)
        stop(process)
    (complaint,) = events_of(store, "perf-unavailable")
    assert complaint["text"].startswith("perf is not installed")
    (gap,) = events_of(store, "recorder-gap", "no samples%")
    assert "perf is not installed" in gap["text"]
    assert gap["at_ns"] < complaint["at_ns"]


@pytest.mark.parametrize("who", ["perf", "recorder"])
def test_eight_seconds_stopped_lose_no_sample(tmp_path: Path, who: str) -> None:
    with load(0) as burner, recorder(tmp_path) as process:
        wait_for_samples(tmp_path)
        pid = perf_of(process.pid) if who == "perf" else process.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        time.sleep(8.0)
        os.kill(pid, signal.SIGCONT)
        wait_for_samples(tmp_path)
        stop(process)
    assert events_of(tmp_path, "perf-ended") == []
    assert _longest_pause_s(tmp_path, burner) < 1.0 or events_of(tmp_path, "samples-lost")
    late = events_of(tmp_path, "recorder-gap", "no signal was read%")
    assert bool(late) == (who == "recorder")
    if late:
        assert (late[0]["subject"], 7.5 < float(late[0]["text"].split("(")[1].split(" s)")[0]) < 12) == (
            "sensors",
            True,
        )


def test_a_real_time_hog_on_perfs_core_hides_nothing(tmp_path: Path) -> None:
    with load(1) as burner, recorder(tmp_path) as process:
        wait_for_samples(tmp_path)
        perf = perf_of(process.pid)
        assert perf is not None
        core = int(Path(f"/proc/{perf}/stat").read_text().rpartition(")")[2].split()[36])
        began_ns = time.time_ns()
        with load(core) as hog:
            os.sched_setscheduler(hog, os.SCHED_FIFO, os.sched_param(50))
            time.sleep(4.0)
        ended_ns = time.time_ns()
        wait_for_samples(tmp_path)
        stop(process)
    during = f"at_ns between {began_ns} and {ended_ns}"
    (row,) = ask(tmp_path, f"select count(*) n from samples where cpu = {core} and {during}")
    assert row["n"] > 0.9 * 97 * 4.0 or events_of(tmp_path, "samples-lost")
    assert _longest_pause_s(tmp_path, burner) < 1.0 or core == 1
