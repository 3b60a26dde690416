"""The sensor: symptoms from captured logs and from this machine's own ring."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from necroscope.sense.host import Host
from necroscope.sense.log import kernel_log
from necroscope.sense.log.kernel_log import SYMPTOMS_LIMIT, KernelLog
from necroscope.sense.log.log_clock import LogClock, log_clock
from necroscope.sense.log.symptoms import catalogue
from necroscope.sense.replay import decode, encode
from necroscope.sense.sensor import look
from necroscope.vocabulary.model import Reading, Symptom

LOGS = Path(__file__).parents[1] / "logs"
S = 1_000_000_000
UPTIME_S = 100_000
CAPTURED_AT = 1_700_000_000 * S


def _host(tmp_path: Path, log: bytes, clock: bool = True) -> Host:
    (tmp_path / "dev").mkdir(exist_ok=True)
    (tmp_path / "dev" / "kmsg").write_bytes(log)
    if clock:
        (tmp_path / "necroscope").mkdir(exist_ok=True)
        reading = {"realtime_ns": CAPTURED_AT, "monotonic_ns": UPTIME_S * S, "boottime_ns": UPTIME_S * S}
        (tmp_path / "necroscope" / "clock.json").write_text(json.dumps(reading))
    return Host(tmp_path)


def _symptoms(reading: Reading) -> list[Symptom]:
    return [record for record in reading.records if isinstance(record, Symptom)]


def _counts(reading: Reading) -> dict[str, float]:
    return {"/".join((sample.signal, *sample.labels)): sample.value for sample in reading.samples}


def test_a_repeated_lockup_is_one_symptom(tmp_path: Path) -> None:
    reading = KernelLog().read(_host(tmp_path, (LOGS / "soft_lockup_5.15.kmsg").read_bytes()))
    (lockup,) = _symptoms(reading)
    first_at_ns = CAPTURED_AT - 10_000 * S
    assert (lockup.kind, lockup.cpu, lockup.task, lockup.pid) == ("soft-lockup", 39, "kubelet", 4711)
    assert (lockup.repeats, lockup.first_at_ns) == (2, first_at_ns)
    assert lockup.at_ns == first_at_ns + 23 * S + 26 * 40_000
    assert lockup.uncertainty_ns == round(500e-6 * (lockup.at_ns - CAPTURED_AT + UPTIME_S * S))
    assert (lockup.function, lockup.stack) == ("mem_cgroup_iter", ("mem_cgroup_iter", "memcg_stat_show"))
    assert dict(lockup.details) == {"stall_us": "45000000"}
    assert lockup.text == "watchdog: BUG: soft lockup - CPU#39 stuck for 45s! [kubelet:4711]"
    assert _counts(reading)["kernel_log_symptoms/soft-lockup"] == 2


def test_the_reset_names_device_queue_cpu_and_reason(tmp_path: Path) -> None:
    (reset,) = _symptoms(KernelLog().read(_host(tmp_path, (LOGS / "ena_reset_2.17.kmsg").read_bytes())))
    assert (reset.kind, reset.driver, reset.device, reset.queue, reset.cpu) == ("nic-reset", "ena", "ens5", 4, 39)
    details = dict(reset.details)
    assert (details["queues"], details["napi_cpu"], details["stall_us"]) == ("4,7", "39", "6013000")
    assert (details["reason"], details["outcome"]) == ("missed-tx-completions", "completed")


def test_what_differs_in_queue_or_task_is_no_repeat(tmp_path: Path) -> None:
    line = "4,{},{},-;gve 0000:00:04.0 eth0: Timeout on tx queue, {}"
    log = "\n".join(line.format(i, i * 20_000_000, queue) for i, queue in enumerate((3, 4, 3)))
    symptoms = _symptoms(KernelLog().read(_host(tmp_path, log.encode())))
    assert [(symptom.queue, symptom.repeats) for symptom in symptoms] == [(4, 1), (3, 2)]


def test_every_kind_has_a_count_so_that_none_is_distinguished_from_unknown(tmp_path: Path) -> None:
    reading = KernelLog().read(_host(tmp_path, b"4,0,1,-;Linux version 6.1\n"))
    counts = _counts(reading)
    assert (counts.pop("kernel_log_records"), counts.pop("kernel_log_lost_records")) == (1, 0)
    assert counts == {f"kernel_log_symptoms/{kind}": 0 for kind in catalogue().kinds}
    assert reading.unseen == ()
    declared = {signal.name for signal in KernelLog.signals}
    assert {sample.signal for sample in reading.samples} == declared


def test_a_second_look_sees_only_what_is_new(tmp_path: Path) -> None:
    sensor = KernelLog()
    xid = "4,{0},{0}000000,-;NVRM: Xid (PCI:0000:10:1c): {1}, pid=1122, x\n"
    assert len(_symptoms(sensor.read(_host(tmp_path, xid.format(5, 79).encode())))) == 1
    assert _symptoms(sensor.read(_host(tmp_path, xid.format(5, 79).encode()))) == []
    both = xid.format(5, 79) + xid.format(90, 31)
    (fresh,) = _symptoms(sensor.read(_host(tmp_path, both.encode())))
    assert dict(fresh.details)["xid"] == "31"


def test_nobody_asks_for_the_clock_while_there_is_nothing_to_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Host] = []

    def counted(host: Host) -> LogClock:
        asked.append(host)
        return log_clock(host)

    monkeypatch.setattr(kernel_log, "log_clock", counted)
    sensor, quiet = KernelLog(), "6,1,1000000,-;eth0: link is up\n"
    assert _symptoms(sensor.read(_host(tmp_path, quiet.encode()))) == []
    assert not asked
    xid = "4,{0},{0}000000,-;NVRM: Xid (PCI:0000:10:1c): 79, pid=1122, x\n"
    assert len(_symptoms(sensor.read(_host(tmp_path, (quiet + xid.format(5) + xid.format(6)).encode())))) >= 1
    assert len(asked) == 1


def test_what_could_not_be_seen_is_said(tmp_path: Path) -> None:
    sensor = KernelLog()
    log = b"4,700,1000000,-;NVRM: Xid (PCI:0000:10:1c): 79\n"
    first = sensor.read(_host(tmp_path, log, clock=False))
    (symptom,) = _symptoms(first)
    assert (symptom.at_ns, symptom.uncertainty_ns) == (S, S)
    assert [unseen.reason.split(":")[0] for unseen in first.unseen] == [
        "700 older records of the kernel's log were overwritten",
        "the time of symptoms is not known",
    ]
    second = sensor.read(_host(tmp_path, b"4,750,2000000,-;x\n", clock=False))
    assert [unseen.reason for unseen in second.unseen] == [
        "49 records of the kernel's log were overwritten before they were read"
    ]
    assert _counts(second)["kernel_log_lost_records"] == 49


def test_names_cannot_steer_a_terminal(tmp_path: Path) -> None:
    log = rb"4,0,1,-;INFO: task \x1b[2Jevil:7 blocked for more than 120 seconds." + b"\n"
    (hung,) = _symptoms(KernelLog().read(_host(tmp_path, log)))
    assert hung.task == "�[2Jevil"
    assert hung.text.startswith("INFO: task �[2Jevil:7 ")


def test_absurd_numbers_are_unknown(tmp_path: Path) -> None:
    log = f"4,0,1,-;watchdog: BUG: soft lockup - CPU#{'9' * 900} stuck for {'9' * 900}s! [a:1]\n"
    (lockup,) = _symptoms(KernelLog().read(_host(tmp_path, log.encode())))
    assert (lockup.cpu, lockup.pid, lockup.details) == (None, 1, ())


def test_a_reading_survives_a_capture(tmp_path: Path) -> None:
    reading = KernelLog().read(_host(tmp_path, (LOGS / "oom_memcg_6.18.kmsg").read_bytes()))
    assert decode(Reading, json.loads(json.dumps(encode(reading)))) == Reading(
        tuple(reading.samples), reading.records, reading.unseen
    )


def test_a_log_without_permission_is_a_gap_and_no_failure(tmp_path: Path) -> None:
    (seen,) = look([KernelLog()], Host(tmp_path))
    assert [unseen.sensor for unseen in seen.reading.unseen] == ["kmsg"]
    assert seen.reading.samples == ()


def test_five_megabytes_of_symptoms_are_read_in_seconds_and_bounded(tmp_path: Path) -> None:
    lines = [example["line"] for pattern in catalogue().patterns for example in pattern.examples]
    lines += ["INFO: task t@:@ blocked for more than 120 seconds."] * 30
    log, size, seq = [], 0, 0
    while size < 5_000_000:
        for line in lines:
            text = line.replace("\n", "\\x0a").replace("@", str(seq))
            log.append(f"4,{seq},{seq * 300},-;{text}")
            size += len(log[-1])
            seq += 1
    host = _host(tmp_path, "\n".join(log).encode())
    started = time.monotonic()
    reading = KernelLog().read(host)
    assert time.monotonic() - started < 20
    assert len(reading.records) == SYMPTOMS_LIMIT
    assert any(f"only the last {SYMPTOMS_LIMIT}" in unseen.reason for unseen in reading.unseen)
    assert _counts(reading)["kernel_log_records"] == seq


# -- this machine ----------------------------------------------------------------------------------------


@pytest.fixture
def injected_lines_are_kept() -> Iterator[None]:
    """The kernel drops most lines that are written to its log in a burst, unless told otherwise."""
    switch = Path("/proc/sys/kernel/printk_devkmsg")
    try:
        before = switch.read_text()
        switch.write_text("on\n")
    except OSError as error:
        pytest.skip(f"kernel.printk_devkmsg cannot be set ({error})")
    yield
    switch.write_text(before)


def _inject(*lines: str) -> None:
    fd = os.open("/dev/kmsg", os.O_WRONLY)
    try:
        for line in lines:
            # Without the newline the kernel holds the record back for a continuation.
            os.write(fd, f"<12>{line}\n".encode())
    finally:
        os.close(fd)


@pytest.mark.root
@pytest.mark.usefixtures("injected_lines_are_kept")
def test_lines_injected_into_the_real_log_become_one_reset() -> None:
    sensor = KernelLog()
    sensor.read(Host())
    before_ns = time.time_ns()
    ena = "ena 0000:7f:1f.7 necrotest0: "
    _inject(
        ena + "TX q 5 is paused for too long (threshold 5000000). usecs since napi 6596000. napi scheduled: 1. "
        "napi CPU: 1. msecs since interrupt: 6600",
        ena + "napi handler hasn't been called for a long time but is scheduled",
        "ena 0000:7f:1f.7: Device reset completed, status: 0, Driver info: Elastic Network Adapter (ENA) v2.17.0g",
    )
    reading = sensor.read(Host())
    (reset,) = [symptom for symptom in _symptoms(reading) if symptom.device == "necrotest0"]
    assert (reset.kind, reset.driver, reset.queue, reset.cpu) == ("nic-reset", "ena", 5, 1)
    assert dict(reset.details)["reason"] == "poll-starvation"
    assert dict(reset.details)["stall_us"] == "6596000"
    assert reset.first_at_ns <= reset.at_ns
    assert abs(reset.at_ns - before_ns) <= reset.uncertainty_ns + S
    again = [symptom for symptom in _symptoms(sensor.read(Host())) if symptom.device == "necrotest0"]
    assert again == []


@pytest.mark.root
@pytest.mark.usefixtures("injected_lines_are_kept")
def test_a_lockup_injected_with_its_dump_has_function_and_stack() -> None:
    sensor = KernelLog()
    sensor.read(Host())
    _inject(
        "watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [necrotest0:4711]",
        "CPU: 1 PID: 4711 Comm: necrotest0 Not tainted 5.15.0 #1",
        "RIP: 0010:mem_cgroup_iter+0x5a/0x1d0",
        "Call Trace:",
        " memcg_stat_show+0x1c2/0x3f0",
    )
    symptoms = _symptoms(sensor.read(Host()))
    (lockup,) = [symptom for symptom in symptoms if symptom.task == "necrotest0"]
    assert (lockup.kind, lockup.cpu, lockup.pid) == ("soft-lockup", 1, 4711)
    assert lockup.stack == ("mem_cgroup_iter", "memcg_stat_show")
