"""The recorder with perfs of other distributions: the real one behind another's command line, or one that is slow."""

from __future__ import annotations

import os
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from stage import perf_shim
from stage.perf_shim import OLDER, Refusal, Shim, asked
from stage.recorders import ask, events_of, load, recorder, stop, wait, wait_for_samples

pytestmark = [pytest.mark.root, pytest.mark.skipif(not shutil.which("perf"), reason="needs perf (Debian: linux-perf)")]

NS = 1_000_000_000


def _path(folder: Path, shim: Shim) -> tuple[Path, dict[str, str]]:
    perf = shim.write(folder / "programs" / "perf")
    return perf, {"NECROSCOPE_PATH": f"{perf.parent}:{os.environ['PATH']}"}


def _longest_pause_s(store: Path, pid: int) -> float:
    times = [row["at_ns"] for row in ask(store, f"select at_ns from samples where pid = {pid} order by at_ns")]
    return max(after - before for before, after in pairwise(times)) / NS


@pytest.mark.parametrize(
    ("lacks", "lacking"),
    [
        pytest.param(("buildid-mmap",), ["mappings carry no build ids"], id="5.10"),
        pytest.param(
            OLDER,
            ["mappings carry no build ids", "perf has no control pipe", "samples carry no cgroup"],
            id="5.4",
        ),
    ],
)
def test_an_older_perf_records_as_fresh_and_as_much(tmp_path: Path, lacks: tuple[str, ...], lacking: list[str]) -> None:
    store = tmp_path / "store"
    perf, environment = _path(tmp_path, Shim(lacks=lacks, real=str(shutil.which("perf"))))
    with load() as burner, recorder(store, env=environment) as process:
        wait_for_samples(store, 30.0)
        wait_for_samples(store, 5.0)
        stop(process)
    assert len(asked(perf)) == 1
    found = sorted(row["text"] for row in events_of(store, "perf-lacks"))
    assert [text.startswith(start) for text, start in zip(found, lacking, strict=True)] == [True] * len(lacking)
    assert [row["text"] for row in events_of(store, "perf-started")] == [f"missing: {len(lacking)}"]
    assert events_of(store, "recorder-gap", "no samples%") == []
    assert _longest_pause_s(store, burner) < 1.0 or events_of(store, "samples-lost")
    events = {row["event"] for row in ask(store, "select distinct event from samples where event not like 'cgroup:%'")}
    assert events <= {"cycles", "cpu-clock"}, "plain names"
    assert (store / "perf-options.json").stat().st_mode & 0o777 == 0o600


def test_a_perf_that_dies_slowly_over_an_option_opens_no_gap_after_the_start(tmp_path: Path) -> None:
    store = tmp_path / "store"
    dies = Refusal("--all-cgroups", "Couldn't synthesize cgroup events.\n", 2.0, begun=True)
    perf, environment = _path(tmp_path, Shim(refuses=(dies,), real=str(shutil.which("perf"))))
    with load(), recorder(store, env=environment) as process:
        wait(lambda: len(events_of(store, "perf-started")) == 2, "the second perf", 30.0)
        wait_for_samples(store, 30.0)
        stop(process)
    assert len(asked(perf)) == 2
    (ended,) = events_of(store, "perf-ended")
    assert ended["text"] == "perf ended by itself: Couldn't synthesize cgroup events."
    (started,) = [row for row in events_of(store, "perf-started") if row["text"] != "with all options"]
    assert (started["at_ns"] - ended["at_ns"]) / NS < 3.0


def test_the_next_recorder_knows_what_the_first_has_learnt(tmp_path: Path) -> None:
    store = tmp_path / "store"
    refuses = Refusal("name=", perf_shim.NO_NAME)
    perf, environment = _path(tmp_path, Shim(refuses=(refuses,), real=str(shutil.which("perf"))))
    for _ in range(2):
        with load(), recorder(store, env=environment) as process:
            wait_for_samples(store, 30.0)
            stop(process)
    assert ["name=" in line for line in asked(perf)] == [True, False, False]
