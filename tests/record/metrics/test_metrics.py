"""The recorder's numbers: counted right, never more than 300 series, and clean for Prometheus."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from necroscope import clock
from necroscope.clock import NS
from necroscope.record.metrics.declared import METRICS, MOST_SERIES
from necroscope.record.metrics.metrics import Metrics
from necroscope.record.metrics.owners import owner_of, pod_of
from necroscope.record.recorder import RecorderStatus
from necroscope.sense.sensor import Look
from necroscope.show.metrics.metric import Series
from necroscope.show.metrics.text import text
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.model import Census, ContainerState, ParentCount, Reading, Record, Sample, UnitState

ROOT = Path(__file__).parents[3]
_ID = "ab" * 32


def _look(sensor: str, *samples: Sample, records: tuple[Record, ...] = ()) -> Look:
    return Look(sensor, clock.now().realtime_ns, Reading(samples, records), 0.001)


def _of(metrics: Metrics, name: str) -> dict[tuple[str, ...], float]:
    (found,) = [series for metric, series in metrics.families() if metric.name == name]
    return {one.labels: one.value for one in found}


def _event(kind: str, subject: str = "", source: str = "recorder", **fields: object) -> Event:
    return Event(clock.now().realtime_ns, kind, source, subject, **fields)  # type: ignore[arg-type]


def test_counters_begin_with_the_recorder() -> None:
    metrics = Metrics({})
    for value in (5_000.0, 5_007.0):
        metrics.looked([_look("vmstat", Sample("vmstat_pgmajfault", value))])
    assert _of(metrics, "necroscope_vmstat_pgmajfault_total") == {(): 7.0}


def test_over_labels_that_a_metric_has_not_it_is_the_sum() -> None:
    metrics = Metrics({})
    for value in (1.0, 3.0):
        samples = [Sample("vmstat_allocstall", value, (zone,)) for zone in ("normal", "movable")]
        delays = [Sample("cpu_run_delay_seconds", value, (cpu,)) for cpu in "01"]
        metrics.looked([_look("vmstat", *samples), _look("run-delay", *delays)])
    assert _of(metrics, "necroscope_vmstat_allocstall_total") == {(): 4.0}
    assert _of(metrics, "necroscope_cpu_run_delay_seconds_total") == {(): 4.0}


def test_zombies_by_owner_and_how_they_come() -> None:
    metrics = Metrics({})
    path = "/machine/system.slice/leaky.service"
    for zombies in (10, 14, 12):
        census = Census("v1", 20, 8, zombies, "proc-cgroups", by_parent=(ParentCount("/docker", zombies),))
        metrics.looked([_look("memcg", Sample("memcg_zombies", zombies), records=(census,))])
    assert _of(metrics, "necroscope_memcg_zombies") == {(): 12.0}
    assert _of(metrics, "necroscope_zombies_born_total") == {("/docker",): 4.0}
    assert _of(metrics, "necroscope_zombies_by_owner") == {("/docker",): 12.0}
    metrics.looked([_look("zombie-names", Sample("memcg_zombies_family", 12.0, (path,)))])
    assert _of(metrics, "necroscope_zombies_by_owner") == {("leaky.service",): 12.0, ("/docker",): 0.0}
    later = [Sample("memcg_zombies_family", zombies, (name,)) for zombies, name in ((15.0, path), (7.0, "/new"))]
    metrics.looked([_look("zombie-names", *later)])
    assert _of(metrics, "necroscope_zombies_born_total") == {
        ("/docker",): 4.0,
        ("leaky.service",): 3.0,
        ("/new",): 7.0,
    }


def test_owners_that_only_have_zombies_take_no_place_of_those_that_leak() -> None:
    metrics = Metrics({})
    for zombies in (0.0, 30.0):
        old = [Sample("memcg_zombies_family", 900.0, (f"/old-{number}",)) for number in range(40)]
        leaky = Sample("memcg_zombies_family", zombies, ("/system.slice/leaky.service",))
        metrics.looked([_look("zombie-names", *old, leaky)])
    assert _of(metrics, "necroscope_zombies_born_total") == {("leaky.service",): 30.0}


def test_where_only_the_walk_counts_zombies_its_count_is_told() -> None:
    metrics = Metrics({})
    metrics.looked(
        [_look("memcg", Sample("memcg_tracked", 986.0)), _look("zombie-names", Sample("memcg_zombies", 884.0))]
    )
    assert _of(metrics, "necroscope_memcg_zombies") == {(): 884.0}


def test_owners_and_pods_of_paths() -> None:
    assert owner_of("/a/system.slice/leaky.service") == "leaky.service"
    assert owner_of("/docker/<id>") == "/docker/<id>"
    assert owner_of("/system.slice/docker-<id>.scope") == "/system.slice/docker-<id>.scope"
    names = {_ID: "ml/trainer-0/main"}
    assert pod_of(f"/kubepods/pod1/{_ID}", names) == ("ml", "trainer-0", "")
    assert pod_of(f"/kubepods.slice/cri-containerd-{_ID}.scope", names) == ("ml", "trainer-0", "")
    assert pod_of("/system.slice/a.service", names) == ("", "", "/system.slice/a.service")


def test_throttling_by_pod() -> None:
    metrics = Metrics({})
    state = ContainerState("containerd", _ID, "ml/trainer-0/main", "image", "running")
    metrics.looked([_look("containers", records=(state,))])
    for value in (1.0, 1.5):
        metrics.looked([_look("throttle", Sample("throttle_throttled_seconds", value, (f"/kubepods/{_ID}",)))])
    assert _of(metrics, "necroscope_throttled_seconds_total") == {("ml", "trainer-0", ""): 0.5}


def test_units_that_fail_and_their_success() -> None:
    metrics = Metrics({})
    units = (
        UnitState("bad.service", "failed", "failed", "exit-code", 3, successes=1, failures=3),
        UnitState("good.service", "active", "running", "success", 0, successes=5, failures=0),
    )
    metrics.looked([_look("systemd", records=units)])
    metrics.happened([_event("unit-restart", "bad.service", count=3)])
    assert _of(metrics, "necroscope_unit_success_ratio") == {("bad.service",): 0.25}
    assert _of(metrics, "necroscope_unit_restarts_total") == {("bad.service",): 3.0}


def test_symptoms_resets_jobs_and_gaps() -> None:
    metrics = Metrics({})
    now_ns = clock.now().realtime_ns
    old = Event(now_ns - 3600 * NS, "nic-reset", "kmsg", "eth0", "reset", device="eth0")
    metrics.happened(
        [
            _event("nic-reset", "eth0", "kmsg", device="eth0", reason="15"),
            old,
            _event("ray-job-failed", "7", "ray"),
            _event("job-finished", "8", "mark", text="job 8 finished"),
            _event("recorder-gap", "perf", from_ns=now_ns, to_ns=now_ns + 2 * NS, reason="perf ended"),
        ]
    )
    assert _of(metrics, "necroscope_nic_resets_total") == {("eth0", "15"): 1.0}
    assert _of(metrics, "necroscope_symptoms_total") == {("nic-reset",): 1.0, ("ray-job-failed",): 1.0}
    assert _of(metrics, "necroscope_jobs_total") == {("failed",): 1.0, ("succeeded",): 1.0}
    assert _of(metrics, "necroscope_gap_seconds_total") == {("perf",): 2.0}


def _flooded() -> Metrics:
    """A node with hostile names and thousands of everything."""
    metrics = Metrics({"zone": 'eu"1\\a\n', "rack": "\udc80"})
    odd = 'a"b\\c\n\x1b\udcff' + "x" * 5_000
    for turn in range(3):
        many = range(2_000)
        looks = [
            _look(sensor, Sample(signal, float(turn * number), tuple(f"{odd}{number}" for _ in range(width))))
            for sensor, signal, width in (
                ("throttle", "throttle_throttled_seconds", 1),
                ("zombie-names", "memcg_zombies_family", 1),
                ("nic", "nic_tx_timeouts", 2),
            )
            for number in many
        ]
        units = tuple(UnitState(f"u{odd}{n}", "failed", "", "", 1, successes=1, failures=n + 1) for n in many)
        times = [Sample("cpu_time_seconds", float(turn * 2), (str(n), "system")) for n in many]
        metrics.looked([*looks, _look("systemd", records=units), _look("cpu", *times)])
        metrics.looked([_look(f"sensor-{number}") for number in range(20)])
    for kind, source in (("nic-reset", "kmsg"), ("unit-restart", "systemd"), ("container-restart", "containers")):
        metrics.happened(_event(kind, f"{odd}{n}", source, device=f"d{n}", reason=f"{odd}{n}") for n in range(2_000))
    metrics.happened(_event(f"kind-{n}", "x", "kmsg") for n in range(2_000))
    metrics.happened(_event("recorder-gap", f"s{n}", from_ns=0, to_ns=NS, reason="x") for n in range(2_000))
    metrics.measured([Sample("recorder_cpu_seconds", 1.0, (part,)) for part in ("recorder", "perf", "a", "b")])
    metrics.stands(RecorderStatus(1.0, 10, 1.0, 0, 0, 0.0, 1, 1, 1.0, 5.0, ()))
    return metrics


def test_there_are_never_more_than_three_hundred_series() -> None:
    most = sum(one.most + 1 if one.labels and one.most > 1 else one.most for one in METRICS) + 1
    assert most <= MOST_SERIES, "the declarations alone"
    lines = [line for line in text(_flooded().families()).splitlines() if not line.startswith("#")]
    assert 150 < len(lines) <= MOST_SERIES
    assert max(map(len, lines)) < 1_500


@pytest.mark.skipif(not shutil.which("promtool"), reason="needs promtool (Debian: prometheus)")
@pytest.mark.parametrize("flooded", [False, True])
def test_prometheus_finds_nothing_to_complain_of(flooded: bool) -> None:
    page = text((_flooded() if flooded else Metrics({"zone": "a"})).families())
    ran = subprocess.run(["promtool", "check", "metrics"], input=page, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_numbers_and_labels_as_prometheus_writes_them() -> None:
    (metric,) = [one for one in METRICS if one.name == "necroscope_symptoms_total"]
    page = text([(metric, [Series(('a"b\\c\nd',), 1.0), Series(("x",), 0.1 + 0.2)])])
    assert page.splitlines()[2:] == [
        'necroscope_symptoms_total{kind="a\\"b\\\\c\\nd"} 1',
        'necroscope_symptoms_total{kind="x"} 0.3',
    ]


def test_every_metric_is_on_its_page_and_nothing_else() -> None:
    made = subprocess.run(
        [sys.executable, ROOT / "tools/metrics-page", "--print"], capture_output=True, text=True, check=True
    )
    assert (ROOT / "docs/metrics.md").read_text("utf-8") == made.stdout
    assert len({one.name for one in METRICS}) == len(METRICS)
