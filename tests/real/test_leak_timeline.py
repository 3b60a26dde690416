"""A real leaking unit under a real recorder: restarts, removals without release and the census agree in one query.

The queries are those of docs/recording.md, word for word.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stage.processes import wait_for
from stage.program import Program
from stage.systemd import SystemdStage, booted_systemd, leaky_unit

pytestmark = [
    pytest.mark.root,
    pytest.mark.bpf,
    pytest.mark.systemd,
    pytest.mark.skipif(not shutil.which("perf"), reason="needs perf (Debian: linux-perf)"),
]

PROGRAM = str(Path(sys.executable).parent / "necroscope")
PAGE = (Path(__file__).parents[2] / "docs" / "recording.md").read_text("utf-8")
LEAKS, WITNESSES = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)[:2]
RUNS = 14
PATIENCE_S = 90.0


def ask(store: Path, query: str) -> list[dict[str, Any]]:
    ran = Program()("sql", "--store", store, "--json", query)
    assert ran.code == 0, ran.err
    rows: list[dict[str, Any]] = json.loads(ran.out)
    return rows


def there(store: Path, query: str) -> bool:
    return (store / "format.json").exists() and ask(store, query)[0]["n"] > 0


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, SystemdStage]]:
    """A recording in which a unit leaks RUNS times and then stays up, and a timer's unit works well once."""
    store = tmp_path_factory.mktemp("leak")
    with booted_systemd() as stage:
        environment = {**os.environ, "NECROSCOPE_SYSTEM_BUS": str(stage.bus)}
        command = [PROGRAM, "record", "--store", str(store), "-q"]
        recorder = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            looked = "select count(*) as n from signals where name in ('systemd_units', 'memcg_zombies_below')"
            sampled = "select count(*) as n from events where kind = 'perf-started'"
            wait_for(lambda: there(store, looked) and there(store, sampled), "the first looks", PATIENCE_S)
            time.sleep(1.0)
            # systemd forgets a unit that is down unless something refers to it, such as its timer
            stage.add_unit("good.service", "[Service]\nType=oneshot\nExecStart=/bin/true\n", enable=False, start=False)
            stage.add_unit("good.timer", "[Timer]\nOnActiveSec=200ms\nAccuracySec=1ms\n", enable=False)
            stage.add_unit("counted.service", leaky_unit(stay_after=RUNS))
            wait_for(lambda: stage.show("counted.service", "SubState") == "running", "a unit that stays up", 30)
            named = (
                f"select count(*) as n from (select max(zombies) z from zombies where parent like '{stage.cgroup}%')"
            )
            wait_for(lambda: there(store, f"{named} where z >= {RUNS}"), "the census", PATIENCE_S)
            recorder.send_signal(signal.SIGTERM)
            out, err = recorder.communicate(timeout=30)
            assert (recorder.returncode, out, err) == (0, "", "")
            yield store, stage
        finally:
            recorder.kill()
            recorder.communicate()


def test_three_witnesses_agree_in_one_query(recorded: tuple[Path, SystemdStage]) -> None:
    store, stage = recorded
    (row,) = [row for row in ask(store, WITNESSES) if row["name"] == "counted.service"]
    assert (row["restarts"], row["leaked"]) == (RUNS, RUNS)
    # the census counts everything below the parent: another unit's cgroup may just be on its way out
    assert row["grown"] in (RUNS, RUNS + 1)
    leaks = {row["path"]: row["leaked"] for row in ask(store, LEAKS)}
    assert leaks[f"{stage.cgroup}/system.slice/counted.service"] == RUNS


def test_the_zombies_are_named_and_are_the_cgroups_that_were_removed(recorded: tuple[Path, SystemdStage]) -> None:
    store, stage = recorded
    path = f"{stage.cgroup}/system.slice/counted.service"
    rows = ask(
        store,
        f"""select z.cgroup, z.family, z.bytes, z.pinned_by, c.removed_ns
        from zombie_names z join cgroups c using (cgroup, path) where path = '{path}' and c.released_ns is null""",
    )
    assert len(rows) == len({row["cgroup"] for row in rows}) == RUNS
    assert {row["pinned_by"] for row in rows} == {"tmpfs"}
    assert all(row["bytes"] >= 65536 and row["removed_ns"] for row in rows)


def test_starts_failures_and_successes_are_counted(recorded: tuple[Path, SystemdStage]) -> None:
    store, _ = recorded
    query = "select name, max(starts) starts, max(successes) good, max(failures) bad from units group by name"
    units = {row["name"]: row for row in ask(store, query)}
    assert units["counted.service"]["starts"] == RUNS + 1
    assert units["counted.service"]["good"] == 0
    assert units["good.service"] == {"name": "good.service", "starts": 1, "good": 1, "bad": 0}


def test_the_timeline_has_the_start_where_it_happened(recorded: tuple[Path, SystemdStage]) -> None:
    store, stage = recorded
    query = "select at_ns from events where kind = 'unit-start' and subject = 'counted.service' order by at_ns"
    starts = [int(row["at_ns"]) for row in ask(store, query)]
    told_us = int(stage.show("counted.service", "ExecMainStartTimestampMonotonic"))
    now_ns, offset_ns = time.time_ns(), time.time_ns() - time.monotonic_ns()
    assert starts
    assert abs(starts[-1] - (told_us * 1000 + offset_ns)) < 5_000_000
    assert starts[-1] < now_ns
