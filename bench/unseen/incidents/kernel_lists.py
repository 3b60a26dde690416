"""Incidents in which the kernel walks something long for somebody, again and again."""

from __future__ import annotations

from bench.unseen.incidents.memory_groups import sparse
from bench.unseen.stage import Stage


def old_poll_loop(stage: Stage) -> None:
    """A broker of old asks for the state of thousands of descriptors, and does not wait for any."""
    stage.daily_life(6)
    stage.service("tick-feed", 6, 10, 1)
    broker = stage.actor("legacy-broker", "poll-all", 8000, cpu=6, realtime=3)
    with stage.recording(quiet_s=18):
        stage.take(4.6, broker)
        stage.sleep(0.5)
        stage.kernel("nic-tx-timeout", "mlx5_core 0000:3b:00.0 ens3f0: TX timeout detected")


def range_locks(stage: Stage) -> None:
    """An embedded database holds thousands of locks on bytes of one file, and takes one more behind them."""
    stage.groups.enable("cpu")
    stage.daily_life(9)
    stage.service("coupon-api", 9, 10, 2, cpu_weight="1")
    file = stage.shm / "ledger.db"
    database = stage.actor("ledger-embed", "ranges", file, 6000, cpu=9, cpu_weight="10000")
    with stage.recording(quiet_s=19), stage.taken():
        database.go(6)
        stage.sleep(5.4)
        stage.mark("slow-request", "coupon-api: deadline exceeded, 31 of 40 requests", cpu=stage.cpu(9))
        database.answer()


def route_dump(stage: Stage) -> None:
    """A routing agent reads its list of thousands of routes over and over."""
    stage.daily_life(11)
    stage.service("sip-edge", 11, 20, 3)
    agent = stage.actor("bgp-export", "routes", 20000, cpu=11, realtime=3)
    with stage.recording(quiet_s=17):
        stage.take(5, agent)
        stage.sleep(0.4)
        stage.kernel("netdev-watchdog", "NETDEV WATCHDOG: eth2 (bnxt_en): transmit queue 3 timed out 5712 ms")


def long_filter(stage: Stage) -> None:
    """A sandbox with a very long filter of system calls makes many of them."""
    stage.daily_life(4)
    stage.service("game-tick", 4, 10, 1)
    sandbox = stage.actor("plugin-host", "filtered", cpu=4, realtime=3)
    with stage.recording(quiet_s=18):
        stage.take(4.5, sandbox)
        stage.sleep(0.6)
        stage.kernel("nic-tx-timeout", "bnxt_en 0000:af:00.0 ens5f0np0: TX timeout detected, starting reset task!")


def symbol_reader(stage: Stage) -> None:
    """A tracer reads the kernel's symbols anew for each event; on another core somebody computes, in nobody's way."""
    stage.groups.enable("cpu")
    stage.daily_life(8, 13)
    stage.service("fraud-check", 8, 10, 2, cpu_weight="1")
    tracer = stage.actor("trace-resolve", "read-one", "/proc/kallsyms", cpu=8, cpu_weight="10000")
    loud = stage.actor("xgb-train", "spin", cpu=13, group="/batch/xgb-train", cpu_weight="20")
    with stage.recording(quiet_s=18):
        stage.take(5.5, loud, tracer)
        stage.sleep(0.3)
        stage.mark("stall", "fraud-check: no heartbeat for 5 s", cpu=stage.cpu(8))


def residency_check(stage: Stage) -> None:
    """A tool asks which pages of a large file are in memory, without a rest."""
    stage.daily_life(3)
    stage.service("lobby-api", 3, 10, 1)
    big = sparse(stage.disk / "segments.bin", 8192)
    warmer = stage.actor("cache-warmer", "residency", big, cpu=3, realtime=4)
    with stage.recording(quiet_s=17):
        stage.take(4.8, warmer)
        stage.sleep(0.5)
        stage.kernel("nic-tx-timeout", "hns3 0000:7d:00.0 eth3: Tx timeout, count: 2")
