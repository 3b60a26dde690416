"""`cpu.stat` of cgroups."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from procfiles import captured, mangled, undeclared

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.sense.cgroups.hierarchies import Mount, layout
from necroscope.sense.cgroups.throttle import CpuStat, Throttle, parse_cpu_stat, throttles
from necroscope.sense.host import Host

V1 = b"nr_periods 612\nnr_throttled 77\nthrottled_time 5102003004\nnr_bursts 0\nburst_time 0\n"
V2 = (
    b"usage_usec 9000\nuser_usec 6000\nsystem_usec 3000\ncore_sched.force_idle_usec 0\n"
    b"nr_periods 10\nnr_throttled 4\nthrottled_usec 2500\nnr_bursts 0\nburst_usec 0\n"
)
MOUNTS_V1 = b"31 23 0:27 / /sys/fs/cgroup/cpu rw,nosuid - cgroup cgroup rw,cpu,cpuacct\n"
MOUNTS_V2 = b"31 23 0:27 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"
MOUNT_V2 = Mount("/sys/fs/cgroup", "/", True, frozenset())


def test_both_versions_in_nanoseconds() -> None:
    assert parse_cpu_stat(V1) == CpuStat(612, 77, 5_102_003_004)
    assert parse_cpu_stat(V2) == CpuStat(10, 4, 2_500_000, usage_ns=9_000_000)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"usage_usec 9000\nuser_usec 6000\nsystem_usec 3000\n",  # v2 without the controller
        b"nr_periods 612\nnr_throttled 77\nthrottled_time 51",  # cut
        b"nr_periods 612\nnr_throttled -1\nthrottled_time 5\n",
        b"nr_periods 1\nnr_throttled 1\nthrottled_time " + b"9" * 6000 + b"\n",
        b"\0\n",
    ],
)
def test_without_quota_counters_it_is_unavailable(text: bytes) -> None:
    with pytest.raises(Unavailable, match="quota periods"):
        parse_cpu_stat(text)


@given(mangled(V1))
def test_no_bytes_break_it(text: bytes) -> None:
    with contextlib.suppress(Unavailable):
        assert parse_cpu_stat(text).periods >= 0


def test_v1_cgroups_with_periods_yield_samples(tmp_path: Path) -> None:
    cpu = "/sys/fs/cgroup/cpu"
    host = captured(
        tmp_path,
        {
            "/proc/self/mountinfo": MOUNTS_V1,
            f"{cpu}/cpu.stat": b"nr_periods 0\nnr_throttled 0\nthrottled_time 0\n",
            f"{cpu}/a/cpu.stat": b"nr_periods 0\nnr_throttled 0\nthrottled_time 0\n",
            f"{cpu}/a/b/cpu.stat": V1,
            f"{cpu}/broken/cpu.stat": b"\xff\xfe",
        },
    )
    reading = Throttle().read(host)
    assert {(sample.signal, sample.labels): sample.value for sample in reading.samples} == {
        ("throttle_periods", ("/a/b",)): 612,
        ("throttle_throttled_periods", ("/a/b",)): 77,
        ("throttle_throttled_seconds", ("/a/b",)): 5.102003004,
    }
    assert reading.unseen == ()
    assert undeclared(Throttle(), reading) == []


def test_v2_cgroups_without_a_quota_are_left_alone(tmp_path: Path) -> None:
    root = "/sys/fs/cgroup"
    host = captured(
        tmp_path,
        {
            "/proc/self/mountinfo": MOUNTS_V2,
            f"{root}/cgroup.controllers": b"cpu memory\n",
            f"{root}/cpu.stat": b"usage_usec 1\n",
            f"{root}/free/cpu.max": b"max 100000\n",
            f"{root}/free/cpu.stat": V2,
            f"{root}/capped/cpu.max": b"50000 100000\n",
            f"{root}/capped/cpu.stat": V2,
            f"{root}/unknown/cpu.stat": V2,
        },
    )
    labels = {sample.labels for sample in Throttle().read(host).samples}
    assert labels == {("/capped",), ("/unknown",)}


def test_no_cpu_controller_is_unavailable(tmp_path: Path) -> None:
    host = captured(tmp_path, {"/proc/self/mountinfo": MOUNTS_V2, "/sys/fs/cgroup/cgroup.controllers": b"memory\n"})
    with pytest.raises(Unavailable, match="cpu controller"):
        Throttle().read(host)


def test_a_namespace_says_so(tmp_path: Path) -> None:
    host = captured(
        tmp_path,
        {"/proc/self/mountinfo": MOUNTS_V1.replace(b" / ", b" /docker/x "), "/sys/fs/cgroup/cpu/cpu.stat": V1},
    )
    assert "namespace" in Throttle().read(host).unseen[0].reason


def test_the_walk_is_bounded_by_number_and_time(tmp_path: Path) -> None:
    host = captured(tmp_path, {f"/sys/fs/cgroup/{n}/cpu.stat": V2 for n in range(20)})
    some = throttles(host, MOUNT_V2, most=5)
    assert (some.looked_at, some.complete, len(some.groups)) == (5, False, 4)  # the root has no file
    none = throttles(host, MOUNT_V2, budget_s=-1)
    assert (none.looked_at, none.complete) == (0, False)
    every = throttles(host, MOUNT_V2)
    assert (every.looked_at, every.complete, len(every.groups)) == (21, True, 20)


def test_a_cut_walk_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host = captured(tmp_path, {"/proc/self/mountinfo": MOUNTS_V1, "/sys/fs/cgroup/cpu/a/cpu.stat": V1})
    whole = throttles
    monkeypatch.setattr("necroscope.sense.cgroups.throttle.throttles", lambda host, mount: whole(host, mount, most=1))
    assert "only 1 cgroups" in Throttle().read(host).unseen[0].reason


def test_between_searches_only_the_known_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search takes a two-hundredth of a core, however many cgroups there are."""
    cpu = tmp_path / "sys/fs/cgroup/cpu"
    host = captured(tmp_path, {"/proc/self/mountinfo": MOUNTS_V1, "/sys/fs/cgroup/cpu/a/cpu.stat": V1})
    now_s, spent_s = [100.0], [0.0]
    whole = throttles

    def dear(host: Host, mount: Mount) -> object:
        spent_s[0] += 0.1
        return whole(host, mount)

    monkeypatch.setattr("necroscope.sense.cgroups.throttle.throttles", dear)
    monkeypatch.setattr("necroscope.sense.cgroups.throttle.clock.elapsed_s", lambda: now_s[0])
    monkeypatch.setattr("necroscope.sense.cgroups.throttle.clock.thread_cpu_s", lambda: spent_s[0])
    sensor = Throttle()
    assert {sample.labels for sample in sensor.read(host).samples} == {("/a",)}
    (cpu / "b").mkdir()
    (cpu / "b/cpu.stat").write_bytes(V1)
    (cpu / "a/cpu.stat").write_bytes(V1.replace(b"612", b"700"))
    for _ in range(19):
        now_s[0] += 1.0
        values = {(sample.signal, sample.labels): sample.value for sample in sensor.read(host).samples}
        assert values["throttle_periods", ("/a",)] == 700
        assert ("throttle_periods", ("/b",)) not in values
    assert spent_s[0] == pytest.approx(0.1)
    now_s[0] += 1.0
    assert {sample.labels for sample in sensor.read(host).samples} == {("/a",), ("/b",)}
    (cpu / "a/cpu.stat").unlink()
    now_s[0] += 1.0
    assert {sample.labels for sample in sensor.read(host).samples} == {("/b",)}


def test_of_very_many_quotas_some_are_read_in_each_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"/sys/fs/cgroup/cpu/c{number}/cpu.stat": V1 for number in range(30)}
    host = captured(tmp_path, {"/proc/self/mountinfo": MOUNTS_V1, **files})
    sensor = Throttle()
    assert len(sensor.read(host).samples) == 90
    spent_s = [0.0]

    def spend() -> float:
        spent_s[0] += 0.001
        return spent_s[0]

    monkeypatch.setattr("necroscope.sense.cgroups.throttle.clock.thread_cpu_s", spend)
    for number in range(30):
        (tmp_path / f"sys/fs/cgroup/cpu/c{number}/cpu.stat").write_bytes(V1.replace(b"612", b"900"))
    news = []
    for _ in range(4):
        samples = sensor.read(host).samples
        assert len(samples) == 90
        news.append(sum(sample.value == 900 for sample in samples))
    assert news == [10, 20, 30, 30]


def test_names_of_any_bytes_become_text(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path / "sys/fs/cgroup/cpu") + b"/\xff"
    os.makedirs(folder)  # noqa: PTH103 - the name is no text
    with open(folder + b"/cpu.stat", "wb") as file:
        file.write(V1)
    reading = Throttle().read(captured(tmp_path, {"/proc/self/mountinfo": MOUNTS_V1}))
    assert {sample.labels for sample in reading.samples} == {("/\ufffd",)}


@pytest.fixture
def capped() -> Iterator[str]:
    """A cgroup of our own with 5 % of a core, and a process in it that wants all of it; its path in the mount."""
    mount = layout(Host()).mount_of("cpu")
    assert mount is not None
    path = f"/necroscope-test-throttle-{os.getpid()}"
    folder = Path(mount.path + path)
    folder.mkdir()
    child = None
    try:
        quota = {"cpu.max": "5000 100000"} if mount.v2 else {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "5000"}
        if not all((folder / name).exists() for name in quota):
            pytest.skip("the root of this hierarchy does not hand the cpu controller down")
        for name, value in quota.items():
            (folder / name).write_text(value)
        child = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        (folder / "cgroup.procs").write_text(str(child.pid))
        yield path
    finally:
        if child is not None:
            child.kill()
            child.wait()
        folder.rmdir()


@pytest.mark.root
def test_a_real_quota_throttles(capped: str) -> None:
    clock.sleep(0.6)
    values = {sample.signal: sample.value for sample in Throttle().read(Host()).samples if sample.labels == (capped,)}
    assert values["throttle_throttled_periods"] >= 2
    assert values["throttle_periods"] >= values["throttle_throttled_periods"]
    assert values["throttle_throttled_seconds"] > 0.1
