"""Incidents in which somebody reads, over and over, what the kernel has to put together from all it knows."""

from __future__ import annotations

from bench.unseen.stage import Stage


def page_census(stage: Stage) -> None:
    """An agent asks what every page of the machine is used for, over and over."""
    stage.daily_life(7, 12)
    stage.service("grid-meter", 7, 10, 1)
    loud = stage.actor("whisper-batch", "spin", cpu=12, group="/users/whisper-batch")
    census = stage.actor("mem-census", "read-one", "/proc/kpageflags", cpu=7, realtime=3)
    with stage.recording(quiet_s=13, after_s=7):
        stage.take(4.8, loud, census)
        stage.sleep(0.4)
        stage.kernel(
            "clocksource-unstable",
            f"clocksource: timekeeping watchdog on CPU{stage.cpu(7)}: Marking clocksource 'tsc' as unstable because "
            "the skew is too large:",
        )


def free_list_scrape(stage: Stage) -> None:
    """An exporter reads how long the kernel's lists of free pages are; its twin in another container computes."""
    stage.groups.enable("cpu")
    stage.daily_life(9, 14)
    stage.service("parking-gate", 9, 10, 2, cpu_weight="1")
    other, guilty = (f"/docker/{digit * 64}" for digit in "2d")
    twin = stage.actor("exporter", "spin", cpu=14, group=other, cpu_weight="20")
    exporter = stage.actor("exporter", "read-one", "/proc/pagetypeinfo", cpu=9, group=guilty, cpu_weight="10000")
    stage.groups.make("/docker", cpu_weight="10000")
    stage.groups.make("/node", cpu_weight="1")
    stage.played.guilty.append(exporter.pid)
    with stage.recording(quiet_s=13, after_s=7):
        stage.take(5.2, twin, exporter)
        stage.sleep(0.3)
        stage.mark("stall", "parking-gate: barrier did not open for 5 s", cpu=stage.cpu(9))


def socket_inventory(stage: Stage) -> None:
    """A security agent lists all local sockets, of which a message bus keeps nearly twenty thousand open."""
    stage.daily_life(4)
    stage.service("ticket-scan", 4, 10, 1)
    stage.actor("message-bus", "socket-pairs", 9000)
    agent = stage.actor("sec-inventory", "read-one", "/proc/net/unix", cpu=4, realtime=2)
    with stage.recording(quiet_s=12, after_s=7):
        stage.take(5, agent)
        stage.sleep(0.6)
        stage.kernel(
            "nic-tx-timeout",
            "mlx4_en: eth2: TX timeout on queue: 4, QP: 0x21c, CQ: 0x95, Cons: 0x1d3, Prod: 0x1f2",
        )


def open_files(stage: Stage) -> None:
    """A check lists the open files of a proxy that has very many; the proxy itself sleeps."""
    stage.groups.enable("cpu")
    stage.daily_life(11)
    stage.service("refund-api", 11, 10, 2, cpu_weight="1")
    proxy = stage.actor("tcp-proxy", "descriptors", 15000, cpu=6)
    check = stage.actor("fd-audit", "list", f"/proc/{proxy.pid}/fd", cpu=11, cpu_weight="10000")
    with stage.recording(quiet_s=12, after_s=7), stage.taken():
        check.go(6)
        stage.sleep(5.3)
        stage.mark("slow-request", "refund-api: 17 requests gave up after 3 s", cpu=stage.cpu(11))
        check.answer()


def message_queue(stage: Stage) -> None:
    """A till looks in a queue of old for a message of a type that is not there, past all that nobody took."""
    stage.daily_life(2)
    stage.service("fuel-pump", 2, 10, 1)
    till = stage.actor("till-bridge", "messages", 16000, cpu=2, realtime=4)
    with stage.recording(quiet_s=13, after_s=7):
        stage.take(4.6, till)
        stage.sleep(0.5)
        stage.kernel(
            "nic-tx-timeout",
            "i40e 0000:18:00.0 ens1f0: tx_timeout: VSI_seid: 390, Q 17, NTC: 0x12, HWB: 0x12, NTU: 0x22, "
            "TAIL: 0x22, INT: 0x1",
        )


def deep_settings(stage: Stage) -> None:
    """A job looks for its settings at the end of hundreds of folders; beside it a job of the idle class computes."""
    stage.groups.enable("cpu")
    stage.daily_life(8)
    stage.service("seat-lock", 8, 10, 2, cpu_weight="1")
    folder = stage.shm / "conf"
    folder.mkdir()
    stage.groups.make("/scavenge", cpu_weight="1")
    loud = stage.actor("seti-unit", "spin", cpu=8, idle=True, group="/scavenge/seti-unit")
    job = stage.actor("conf-resolve", "deep-path", folder, 400, cpu=8, cpu_weight="10000")
    with stage.recording(quiet_s=13, after_s=7):
        stage.take(5.4, loud, job)
        stage.sleep(0.4)
        stage.kernel("netdev-watchdog", "NETDEV WATCHDOG: enp1s0 (r8169): transmit queue 0 timed out 5212 ms")
