"""Incidents in which an innocent looks as guilty as who did it."""

from __future__ import annotations

from bench.unseen.incidents.memory_groups import sparse
from bench.unseen.stage import Stage


def decoy_beside(stage: Stage) -> None:
    """A program computes on the core of a service; on another core an exporter reads what is known to hurt."""
    stage.groups.enable("cpu")
    stage.daily_life(6, 15)
    stage.service("card-auth", 6, 10, 2, cpu_weight="1")
    hasher = stage.actor("feature-hash", "spin", cpu=6, cpu_weight="10000")
    decoy = stage.actor("slab-watch", "read-one", "/proc/slabinfo", cpu=15, group="/ops/slab-watch", cpu_weight="20")
    with stage.recording(quiet_s=18):
        stage.take(5.5, decoy, hasher)
        stage.sleep(0.3)
        stage.mark("slow-request", "card-auth: 812 authorisations timed out", cpu=stage.cpu(6))


def unequal_pair(stage: Stage) -> None:
    """Two containers of one image compute on one core; the one has hardly any weight, the other nearly all."""
    stage.groups.enable("cpu")
    stage.daily_life(9)
    stage.service("menu-api", 9, 10, 2, cpu_weight="1")
    small, large = (
        stage.actor("indexer", "spin", cpu=9, group=f"/docker/{digit * 64}", cpu_weight=weight)
        for digit, weight in (("b", "1"), ("e", "10000"))
    )
    stage.groups.make("/docker", cpu_weight="10000")
    stage.played.guilty.append(large.pid)
    with stage.recording(quiet_s=18):
        stage.take(5.5, small, large)
        stage.sleep(0.3)
        stage.mark("stall", "menu-api: no answer for 4 s", cpu=stage.cpu(9))


def nice_is_not_weight(stage: Stage) -> None:
    """A backup is as nice as can be, in a group of the most weight; a program of the worst manners has none."""
    stage.groups.enable("cpu")
    stage.daily_life(4)
    stage.service("loyalty", 4, 10, 2, cpu_weight="1")
    backup = stage.actor("borg-create", "spin", cpu=4, nice=19, cpu_weight="10000")
    rude = stage.actor("turbo-cache", "spin", cpu=4, nice=-20, cpu_weight="1")
    stage.groups.make("/node", cpu_weight="10000")
    with stage.recording(quiet_s=18):
        stage.take(5.5, rude, backup)
        stage.sleep(0.4)
        stage.kernel("netdev-watchdog", "NETDEV WATCHDOG: enp7s0 (e1000e): transmit queue 0 timed out 5310 ms")


def bursty_cron(stage: Stage) -> None:
    """A job computes for a third of a second, rests for a moment, and so on: no single burst is long."""
    stage.daily_life(11)
    stage.service("fleet-pos", 11, 10, 1)
    job = stage.actor("cron-rollup", "bursts", 300, 60, cpu=11, realtime=2, group="/cron/cron-rollup")
    with stage.recording(quiet_s=17):
        stage.take(6, job)
        stage.sleep(0.2)
        stage.kernel("nic-tx-timeout", "tg3 0000:02:00.0 eno1: transmit timed out")


def leak_and_loud(stage: Stage) -> None:
    """A runner leaves groups behind, a restore reclaims over them; on another core a notebook computes, loudly."""
    stage.groups.enable("memory")
    stage.daily_life(9, 14)
    stage.service("price-cache", 9, 10, 1)
    stage.groups.make("/tenancy", realtime=True)
    tenancy = stage.groups.memory("/tenancy")
    big = sparse(stage.disk / "dump.bin", 4096)
    restores = [
        stage.actor("restore-check", "reread", big, cpu=9, realtime=3, group="/tenancy/restore") for _ in range(3)
    ]
    loud = stage.actor("ml-notebook", "spin", cpu=14, group="/users/ml-notebook", cpu_weight="20")
    runner = stage.actor(
        "cron-sandbox", "leave-behind", tenancy, stage.shm, 2500 * stage.scale, 50, group="/agents/cron-sandbox"
    )
    room = stage.groups.memory_used("/tenancy") + (128 << 20)
    stage.groups.make("/tenancy", realtime=True, memory_max=str(room))
    with stage.recording(quiet_s=15):
        stage.take(5.2, loud, *restores)
        stage.sleep(0.5)
        stage.kernel("nic-tx-timeout", "ice 0000:18:00.0 ens1f0: tx_timeout: VSI_num: 8, Q 12, NTC: 0x12, "
                     "HW_HEAD: 0x12, NTU: 0x22, INT: 0x0")  # fmt: skip
    runner.end()
