"""The recorder for real: samples, signals, cgroup lifecycle and marks on one timeline, and nothing lost to a kill."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from necroscope.lab.actors.zombies import ZombieFarm, own_name
from stage.program import Program

PROGRAM = str(Path(sys.executable).parent / "necroscope")
pytestmark = [pytest.mark.root, pytest.mark.skipif(not shutil.which("perf"), reason="needs perf (Debian: linux-perf)")]


def _ask(necroscope: Program, store: Path, query: str) -> list[dict[str, Any]]:
    ran = necroscope("sql", "--store", store, "--json", query)
    assert ran.code == 0, ran.err
    rows: list[dict[str, Any]] = json.loads(ran.out)
    return rows


def _record(store: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [PROGRAM, "record", "--store", str(store), "-q", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _wait_for_samples(necroscope: Program, store: Path) -> None:
    for _ in range(60):
        if (store / "format.json").exists():
            rows = _ask(necroscope, store, "select count(*) as n from samples")
            if rows[0]["n"]:
                return
        time.sleep(0.2)
    raise TimeoutError("no samples")


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory, necroscope: Program) -> tuple[Path, ZombieFarm, int]:
    """A recording during which 12 cgroups leak and 9 do not, with one core burnt and one mark."""
    store = tmp_path_factory.mktemp("store")
    burner = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    recorder = _record(store)
    try:
        _wait_for_samples(necroscope, store)
        with ZombieFarm(own_name("record")) as farm:
            farm.make("tmpfs", 12, "leaky", "job-<n>")
            for path in farm.make_directories(9, "tidy", "done-<n>"):
                (Path(farm._mount.path) / path.lstrip("/")).rmdir()
            assert necroscope("mark", "job 7 failed", "--kind", "job-failed", "--store", store).code == 0
            time.sleep(3.0)
            recorder.send_signal(signal.SIGTERM)
            out, err = recorder.communicate(timeout=30)
        assert (recorder.returncode, out, err) == (0, "", "")
        return store, farm, burner.pid
    finally:
        for process in (recorder, burner):
            process.kill()
            process.communicate()


def test_the_burnt_core_is_in_the_profile(necroscope: Program, recording: tuple[Path, ZombieFarm, int]) -> None:
    store, _, pid = recording
    (row,) = _ask(necroscope, store, f"select count(*) n, count(distinct stack_id) s from samples where pid = {pid}")
    assert row["n"] > 100
    assert row["s"] >= 1


def test_leaks_by_name_are_removals_without_release(
    necroscope: Program, recording: tuple[Path, ZombieFarm, int]
) -> None:
    store, farm, _ = recording
    query = f"""
        select removed.subject as path from events as removed
        where removed.kind = 'cgroup-rmdir' and removed.subject like '{farm.path}/%' and not exists (
            select 1 from events as freed where freed.kind = 'cgroup-release' and freed.subject = removed.subject)
    """
    leaked = [row["path"] for row in _ask(necroscope, store, query)]
    assert len([path for path in leaked if "/leaky/job-" in path]) == 12
    assert not [path for path in leaked if "/tidy/" in path]
    made = f"select count(*) n from events where kind = 'cgroup-mkdir' and subject like '{farm.path}/tidy/done-%'"
    assert _ask(necroscope, store, made)[0]["n"] == 9


def test_signals_marks_and_the_recorders_own_cost_are_there(
    necroscope: Program, recording: tuple[Path, ZombieFarm, int]
) -> None:
    store, _, _ = recording
    kinds = {row["kind"] for row in _ask(necroscope, store, "select distinct kind from events")}
    assert {"recorder-started", "recorder-stopped", "perf-started", "job-failed"} <= kinds
    names = {row["name"] for row in _ask(necroscope, store, "select distinct name from signals")}
    wanted = {"cpu_time_seconds", "memcg_zombies", "recorder_cpu_seconds", "sensor_cost_seconds", "vmstat_pgfault"}
    assert wanted <= names
    (cores,) = _ask(necroscope, store, 'select count(distinct cpu) n, max("user") most from cores')
    assert cores["n"] == os.cpu_count()
    assert cores["most"] > 0.8


def test_a_killed_recorder_loses_at_most_two_seconds_and_leaves_no_perf(necroscope: Program, tmp_path: Path) -> None:
    recorder = _record(tmp_path)
    try:
        _wait_for_samples(necroscope, tmp_path)
        time.sleep(2.5)
        children = Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children").read_text().split()
        killed_ns = time.time_ns()
    finally:
        recorder.kill()
        recorder.communicate()
    (row,) = _ask(necroscope, tmp_path, "select max(at_ns) last, count(*) n from samples")
    assert row["n"] > 0
    assert killed_ns - int(row["last"]) < 2_000_000_000
    time.sleep(0.3)
    alive = [pid for pid in children if Path(f"/proc/{pid}/stat").exists()]
    assert [pid for pid in alive if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"] == []


def test_a_second_recorder_is_told_who_is_first(necroscope: Program, tmp_path: Path) -> None:
    recorder = _record(tmp_path, "--no-perf")
    try:
        for _ in range(50):
            if (tmp_path / "lock").exists():
                break
            time.sleep(0.1)
        ran = necroscope("record", "--store", tmp_path, "--for", "1s")
        assert ran.code == 3
        assert str(recorder.pid) in ran.err
    finally:
        recorder.send_signal(signal.SIGINT)
        recorder.communicate(timeout=20)


def test_without_perf_the_rest_is_recorded(necroscope: Program, tmp_path: Path) -> None:
    ran = necroscope("record", "--store", tmp_path, "--for", "3s", env={"NECROSCOPE_PATH": "/nowhere"})
    assert ran.code == 0
    (event,) = _ask(necroscope, tmp_path, "select text from events where kind = 'perf-unavailable' limit 1")
    assert "perf is not installed" in event["text"]
    assert _ask(necroscope, tmp_path, "select count(*) n from signals")[0]["n"] > 100
