"""Incidents in which who did it has company: before it, after it, on its own core, or in its own group."""

from __future__ import annotations

from bench.unseen.incidents.memory_groups import sparse
from bench.unseen.stage import Stage


def hog_and_reader(stage: Stage) -> None:
    """A program computes on the core of a service; on that same core, a reader of what is known to hurt gets little."""
    stage.groups.enable("cpu")
    stage.daily_life(12)
    stage.service("vet-booking", 12, 10, 2, cpu_weight="1")
    stage.groups.make("/agents", cpu_weight="1")
    reader = stage.actor("sym-agent", "read-one", "/proc/kallsyms", cpu=12, idle=True, group="/agents/sym-agent")
    hog = stage.actor("svg-raster", "spin", cpu=12, cpu_weight="10000")
    with stage.recording(quiet_s=13, after_s=7):
        reader.go(12)
        stage.sleep(3)
        stage.take(5, hog)
        stage.sleep(0.2)
        stage.mark("slow-request", "vet-booking: no slot was saved for 4 s", cpu=stage.cpu(12))


def changing_of_the_guard(stage: Stage) -> None:
    """Who held the core has ended when the driver complains; somebody else computes there by then, in nobody's way."""
    stage.groups.enable("cpu")
    stage.daily_life(5)
    stage.service("mart-pricing", 5, 10, 2, cpu_weight="1")
    hog = stage.actor("ldap-sync", "spin", cpu=5, cpu_weight="10000")
    stage.groups.make("/lowprio", cpu_idle="1")
    later = stage.actor("tmp-indexer", "spin", cpu=5, group="/lowprio/tmp-indexer", cpu_idle="1")
    with stage.recording(quiet_s=13, after_s=7):
        stage.take(4.6, hog)
        later.go(4)
        stage.sleep(0.7)
        stage.kernel("nic-tx-timeout", "tg3 0000:02:00.0 eno1: transmit timed out, resetting")


def thread_pool(stage: Stage) -> None:
    """Twelve threads of one program compute on one core; on another, a job reclaims in its own tight group."""
    stage.groups.enable("cpu", "memory")
    stage.daily_life(2, 9)
    stage.service("bike-rental", 2, 10, 2, cpu_weight="1")
    big = sparse(stage.disk / "audit.log", 4096)
    decoy = stage.actor(
        "log-shipper", "refault", big, cpu=9, group="/lowprio/log-shipper", memory_max=str(48 << 20), cpu_weight="5"
    )
    pool = stage.actor("route-solver", "spin-threads", 12, cpu=2, cpu_weight="10000")
    with stage.recording(quiet_s=13, after_s=7):
        stage.take(5.5, decoy, pool)
        stage.sleep(0.2)
        stage.mark("stall", "bike-rental: unlocks took longer than 4 s", cpu=stage.cpu(2))


def limit_above(stage: Stage) -> None:
    """A group has no limit of its own, the one above it has: its reader reclaims, its neighbour in it sleeps."""
    stage.groups.enable("memory")
    stage.daily_life(7)
    stage.service("meal-orders", 7, 10, 1)
    big = sparse(stage.disk / "warehouse.parquet", 4096)
    stage.groups.make("/team-ads/query", realtime=True)
    readers = [stage.actor("parquet-scan", "reread", big, cpu=7, realtime=3, group="/team-ads/query") for _ in range(2)]
    stage.actor("ads-frontend", "hold", 24, cpu=6, group="/team-ads/web")
    stage.groups.make("/team-ads", realtime=True, memory_max=str(96 << 20))
    with stage.recording(quiet_s=13, after_s=7):
        stage.take(5, *readers)
        stage.sleep(0.5)
        stage.kernel("netdev-watchdog", "NETDEV WATCHDOG: eth1 (virtio_net): transmit queue 0 timed out 5340 ms")


def leak_and_neighbours(stage: Stage) -> None:
    """A hook leaves groups behind, an import reclaims over them; on that core and another a loud job computes."""
    stage.groups.enable("memory")
    stage.daily_life(10, 15)
    stage.service("gym-access", 10, 10, 1)
    stage.groups.make("/apps", realtime=True)
    apps = stage.groups.memory("/apps")
    big = sparse(stage.disk / "export.ndjson", 4096)
    imports = [stage.actor("ndjson-load", "reread", big, cpu=10, realtime=3, group="/apps/import") for _ in range(3)]
    loud = [stage.actor("gpt-finetune", "spin", cpu=core, group="/users/gpt-finetune", nice=19) for core in (10, 15)]
    hook = stage.actor(
        "deploy-hook", "leave-behind", apps, stage.shm, 2500 * stage.scale, 50, group="/agents/deploy-hook"
    )
    stage.groups.make("/apps", realtime=True, memory_max=str(stage.groups.memory_used("/apps") + (128 << 20)))
    with stage.recording(quiet_s=13, after_s=7):
        stage.take(5.2, *loud, *imports)
        stage.sleep(0.5)
        stage.kernel("nic-tx-timeout", "ionic 0000:b5:00.0 enp181s0: Tx Timeout triggered - txq 6")
    hook.end()


def one_of_three(stage: Stage) -> None:
    """Three programs of one name and one weight, each on a core of its own; on one of these cores somebody waits."""
    stage.groups.enable("cpu")
    stage.daily_life(3, 4, 8)
    stage.service("crane-link", 3, 10, 2, cpu_weight="1")
    groups = [f"/docker/{digit * 64}" for digit in "579"]
    first, second, third = (
        stage.actor("consumer", "spin", cpu=cpu, group=group, cpu_weight="10000")
        for cpu, group in zip((4, 3, 8), groups, strict=True)
    )
    stage.groups.make("/docker", cpu_weight="10000")
    stage.groups.make("/node", cpu_weight="1")
    stage.played.guilty.append(second.pid)
    with stage.recording(quiet_s=13, after_s=7):
        stage.take(5.3, first, third, second)
        stage.sleep(0.3)
        stage.mark("stall", "crane-link: no position for 5 s", cpu=stage.cpu(3))
