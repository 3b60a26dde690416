"""Incidents about memory cgroups."""

from __future__ import annotations

from pathlib import Path

from bench.unseen.stage import Stage


def page_cache_limit(stage: Stage) -> None:
    """Log readers in a group whose memory limit is far below the file that they read."""
    stage.groups.enable("memory")
    stage.daily_life(10)
    stage.service("webhook-out", 10, 10, 1)
    big = sparse(stage.disk / "events.log", 4096)
    group = "/node/log-forwarder"
    stage.groups.make(group, realtime=True, memory_max=str(48 << 20))
    readers = [stage.actor("log-forwarder", "refault", big, cpu=10, realtime=3, group=group) for _ in range(2)]
    with stage.recording(quiet_s=15):
        stage.take(5, *readers)
        stage.sleep(0.5)
        stage.kernel("netdev-watchdog", "NETDEV WATCHDOG: eth0 (ena): transmit queue 5 timed out")


def tenant_statistics(stage: Stage) -> None:
    """An agent makes a group for each tenant and removes none; a scraper reads all of their statistics."""
    stage.groups.enable("memory")
    stage.daily_life(8)
    stage.service("rate-limiter", 8, 10, 1)
    stage.groups.make("/tenants/tenant-default", realtime=True)
    tenants = stage.groups.memory("/tenants")
    stage.actor("tenant-agent", "make-folders", tenants, 700 * stage.scale, 200)
    scraper = stage.actor("stat-scraper", "read-each", tenants, "memory.stat", cpu=8, realtime=3)
    with stage.recording(quiet_s=15):
        stage.take(5, scraper)
        stage.sleep(0.5)
        stage.kernel("nic-tx-timeout", "ena 0000:00:06.0 ens6: TX q 4 is paused for too long (threshold 5000000). "
                     "Time since last napi 5431000 usec. napi scheduled: 1")  # fmt: skip


def left_behind(stage: Stage) -> None:
    """An injector leaves groups behind, pinned by its files; a build below the same limit reclaims over them."""
    stage.groups.enable("memory")
    stage.daily_life(9)
    stage.service("feature-api", 9, 10, 1)
    stage.groups.make("/platform", realtime=True)
    platform = stage.groups.memory("/platform")
    big = sparse(stage.disk / "corpus.bin", 4096)
    builds = [stage.actor("corpus-build", "reread", big, cpu=9, realtime=3, group="/platform/build") for _ in range(3)]
    injector = stage.actor(
        "sidecar-inject", "leave-behind", platform, stage.shm, 2500 * stage.scale, 50, group="/agents/sidecar-inject"
    )
    room = stage.groups.memory_used("/platform") + (128 << 20)
    stage.groups.make("/platform", realtime=True, memory_max=str(room))
    with stage.recording(quiet_s=15):
        stage.take(5, *builds)
        stage.sleep(0.5)
        stage.kernel(
            "nic-tx-timeout",
            "ena 0000:20:03.0 eth0: TX q 9 is paused for too long (threshold 5000000). "
            f"usecs since napi 5668924. napi scheduled: 1. napi CPU: {stage.cpu(9)}. msecs since interrupt: 5668",
        )
    injector.end()


def sparse(path: Path, mebibytes: int) -> Path:
    """A file without blocks: to read it takes pages and no disk."""
    with path.open("wb") as file:
        file.truncate(mebibytes << 20)
    return path
