"""Incidents in which the kernel works for somebody, and holds a core meanwhile."""

from __future__ import annotations

import os
from pathlib import Path

from bench.unseen.stage import Stage


def dropped_caches(stage: Stage) -> None:
    """A nightly script has the kernel drop its caches, with millions of names in them."""
    stage.daily_life(5)
    stage.service("quote-feed", 5, 10, 1)
    for number in range(6):
        folder = stage.disk / f"cache-{number}"
        folder.mkdir()
        stage.actor("web-frontend", "ask-names", folder, 250000 * stage.scale, ready=False)
    for asker in stage.actors("web-frontend"):
        asker.answer()
    trim = stage.actor("nightly-trim", "rewrite", "/proc/sys/vm/drop_caches", 2, cpu=5, realtime=3)
    with stage.recording(quiet_s=15):
        stage.take(3.5, trim)
        stage.sleep(0.5)
        stage.kernel("nic-tx-timeout", "mlx5_core 0000:5e:00.1 ens7f1: TX timeout detected")


def big_delete(stage: Stage) -> None:
    """Files of tmpfs are deleted that hold gigabytes."""
    stage.daily_life(12)
    stage.service("model-gateway", 12, 10, 1)
    stage.actor("shuffle-write", "fill-folder", stage.shm, 12 * stage.scale, 1024).end()
    cleaner = stage.actor("scratch-clean", "empty-folder", stage.shm, cpu=12, realtime=3)
    with stage.recording(quiet_s=15):
        stage.take(1, cleaner)
        stage.sleep(0.3)
        stage.kernel("netdev-watchdog", "NETDEV WATCHDOG: enp1s0 (r8169): transmit queue 0 timed out 5376 ms")


def big_exit(stage: Stage) -> None:
    """A server with many gigabytes ends, and its core gives them back."""
    stage.daily_life(10)
    stage.service("token-stream", 10, 10, 1)
    server = stage.actor("model-server", "hold", 12288 * stage.scale, cpu=10, realtime=2)
    with stage.recording(quiet_s=15):
        with stage.taken():
            server.go(1)
            server.wait()
        stage.sleep(0.4)
        stage.mark("job-failed", "token-stream: 41 clients disconnected", cpu=stage.cpu(10))


def flipped_protection(stage: Stage) -> None:
    """A sandbox makes thousands of small mappings writable and back."""
    stage.daily_life(7)
    stage.service("frontdoor", 7, 10, 1)
    sandbox = stage.actor("wasm-sandbox", "protect", cpu=7, realtime=3)
    with stage.recording(quiet_s=14):
        stage.take(4.5, sandbox)
        stage.sleep(0.9)
        stage.kernel("nic-tx-timeout", "tg3 0000:02:00.0 eno1: transmit timed out")


def relay(stage: Stage) -> None:
    """Two processes hand a byte to each other through pipes, without a rest."""
    stage.daily_life(13)
    stage.service("rtp-mixer", 13, 20, 2)
    relay = stage.actor("logmux-relay", "ping-pong", cpu=13, realtime=3)
    with stage.recording(quiet_s=15):
        stage.take(5, relay)
        stage.sleep(0.5)
        stage.kernel("nic-tx-timeout", "hns3 0000:7d:00.0 eth3: Tx timeout, count: 1")


def thundering_herd(stage: Stage) -> None:
    """Sixty threads wake each other through one futex."""
    stage.daily_life(3)
    stage.service("ticketd", 3, 10, 1)
    herd = stage.actor("pooled-rpc", "wake-all", 60, cpu=3, realtime=3)
    with stage.recording(quiet_s=16):
        stage.take(4, herd)
        stage.sleep(0.7)
        stage.kernel("netdev-watchdog", "NETDEV WATCHDOG: eth2 (bnxt_en): transmit queue 5 timed out 6010 ms")


def process_lister(stage: Stage) -> None:
    """A monitor reads what every one of thousands of processes does, over and over."""
    stage.groups.enable("cpu")
    stage.daily_life(5)
    stage.service("auth-cache", 5, 10, 1, cpu_weight="1")
    stage.actor("idle-worker", "sleepers", 1000 * stage.scale)
    lister = stage.actor("ps-exporter", "read-each", "/proc", "stat", "status", "cmdline", cpu=5, cpu_weight="10000")
    with stage.recording(quiet_s=15), stage.taken():
        lister.go(5)
        stage.sleep(4.5)
        stage.mark("slow-request", "auth-cache: lookup timed out after 1000 ms", cpu=stage.cpu(5))
        lister.answer()


def steered_packets(stage: Stage) -> None:
    """Packets that one process sends to its own machine are worked off by another core."""
    stage.daily_life(2, 13)
    stage.service("voice-bridge", 13, 10, 6, cpu_weight="100")
    stage.setting("/sys/class/net/lo/queues/rx-0/rps_cpus", f"{1 << stage.cpu(13):x}")
    senders = [stage.actor("statsd-fanout", "blast", 64, cpu=(2, 3, 14, 15)) for _ in range(3)]
    with stage.recording(quiet_s=15):
        stage.take(5, *senders)
        stage.sleep(0.4)
        stage.mark("stall", "voice-bridge: 212 frames late")


def mount_lister(stage: Stage) -> None:
    """A storage plugin lists thousands of mounts, again and again."""
    stage.daily_life(11)
    stage.service("scheduler-rpc", 11, 10, 1)
    folder = stage.disk / "volumes"
    folder.mkdir()
    lister = stage.actor("csi-lister", "mounts", folder, 3000, cpu=11, realtime=3)
    with stage.recording(quiet_s=15):
        stage.take(5, lister)
        stage.sleep(0.5)
        stage.kernel("nic-tx-timeout", "mlx5_core 0000:86:00.0 enp134s0: TX timeout detected")


def connection_lister(stage: Stage) -> None:
    """An exporter reads the table of thousands of connections."""
    stage.daily_life(10)
    stage.service("stream-relay", 10, 10, 1)
    stage.actor("chat-gateway", "connections", 10000)
    lister = stage.actor("conn-exporter", "read-one", "/proc/net/tcp", cpu=10, realtime=3)
    with stage.recording(quiet_s=14):
        stage.take(4.5, lister)
        stage.sleep(0.5)
        stage.kernel("nic-tx-timeout", "bnxt_en 0000:af:00.0 ens5f0np0: TX timeout detected, starting reset task!")


def compaction(stage: Stage) -> None:
    """Somebody who wants huge pages has the kernel move all of its memory about."""
    stage.daily_life(6)
    stage.service("pubsub", 6, 10, 1)
    holes = stage.actor("arena-alloc", "hold", 1024 * stage.scale, cpu=14)
    prepare = stage.actor("hugepage-prep", "rewrite", "/proc/sys/vm/compact_memory", 1, cpu=6, realtime=3)
    with stage.recording(quiet_s=15):
        stage.take(4, prepare)
        stage.sleep(0.5)
        stage.kernel("nic-tx-timeout", "igb 0000:01:00.0 eno1: Detected Tx Unit Hang")
    holes.end()


def kernel_random(stage: Stage) -> None:
    """A program has the kernel make random numbers by the megabyte."""
    stage.daily_life(8)
    stage.service("lease-keeper", 8, 20, 3)
    mint = stage.actor("token-mint", "randomness", cpu=8, realtime=3)
    with stage.recording(quiet_s=15):
        stage.take(5, mint)
        stage.sleep(0.5)
        stage.mark("job-failed", "lease-keeper: lost its lease", cpu=stage.cpu(8))


def slab_statistics(stage: Stage) -> None:
    """An exporter reads the statistics of all slab caches without a rest."""
    stage.daily_life(4)
    stage.service("pay-router", 4, 10, 1)
    exporter = stage.actor("slabtop-export", "read-one", "/proc/slabinfo", cpu=4, realtime=3)
    with stage.recording(quiet_s=22, after_s=12):
        stage.take(4.8, exporter)
        stage.sleep(0.6)
        stage.kernel("storage-timeout", "nvme nvme1: I/O 88 QID 2 timeout, completion polled")


def snapshot_forks(stage: Stage) -> None:
    """A store with gigabytes forks for each snapshot, and its snapshots are empty."""
    stage.groups.enable("cpu")
    stage.daily_life(3)
    stage.service("kv-front", 3, 10, 2, cpu_weight="1")
    store = stage.actor("session-kv", "forks", 1536 * stage.scale, cpu=3, cpu_weight="10000")
    with stage.recording(quiet_s=24, after_s=13):
        stage.take(5.5, store)
        stage.sleep(0.2)
        stage.kernel("netdev-watchdog", "NETDEV WATCHDOG: eth1 (virtio_net): transmit queue 1 timed out 5460 ms")


def memory_exporter(stage: Stage) -> None:
    """An exporter asks how much memory a large process has, page by page, over and over."""
    stage.groups.enable("cpu")
    stage.daily_life(6)
    stage.service("search-suggest", 6, 20, 4, cpu_weight="1")
    engine = stage.actor("olap-engine", "hold", 1536 * stage.scale, cpu=15)
    exporter = stage.actor("rss-exporter", "read-one", f"/proc/{engine.pid}/smaps", cpu=6, cpu_weight="10000")
    with stage.recording(quiet_s=20, after_s=12), stage.taken():
        exporter.go(6)
        stage.sleep(5.2)
        stage.mark("slow-request", "search-suggest: 12 of 20 requests took more than 2 s", cpu=stage.cpu(6))
        exporter.answer()


def watch_again(stage: Stage) -> None:
    """A watcher of files forgets its folder and watches it again; the kernel remembers many names in it."""
    stage.daily_life(13)
    stage.service("page-cache-api", 13, 10, 1)
    folder = stage.disk / "uploads"
    folder.mkdir()
    stage.actor("upload-check", "ask-names", folder, 300000 * stage.scale, cpu=8)
    watcher = stage.actor("asset-watcher", "watch", folder, cpu=13, realtime=2)
    with stage.recording(quiet_s=21, after_s=14):
        stage.take(4.2, watcher)
        stage.sleep(0.7)
        stage.kernel("nic-tx-timeout", "ionic 0000:b5:00.0 enp181s0: Tx Timeout triggered - txq 2")


def merging(stage: Stage) -> None:
    """Somebody has the kernel merge equal pages as fast as it can; its thread is bound to the core of a console."""
    stage.groups.enable("cpu")
    stage.daily_life(5)
    stage.service("console-proxy", 5, 10, 2, group="/guests/console-proxy", cpu_weight="1")
    stage.groups.make("/guests", cpu_weight="1")
    stage.actor("vm-density", "alike", 1024 * stage.scale, cpu=12)
    ksmd = next(int(path.parent.name) for path in Path("/proc").glob("[0-9]*/comm") if path.read_text() == "ksmd\n")
    cores = os.sched_getaffinity(ksmd)
    os.sched_setaffinity(ksmd, {stage.cpu(5)})
    try:
        with stage.recording(quiet_s=23, after_s=13):
            with stage.taken():
                for name, value in (("sleep_millisecs", "0"), ("pages_to_scan", "20000"), ("run", "1")):
                    stage.setting(f"/sys/kernel/mm/ksm/{name}", value)
                stage.sleep(6)
                Path("/sys/kernel/mm/ksm/run").write_text("0")
            stage.sleep(0.3)
            stage.mark("stall", "console-proxy: screens lag behind", cpu=stage.cpu(5))
    finally:
        os.sched_setaffinity(ksmd, cores)


def pinned_buffers(stage: Stage) -> None:
    """A program locks its buffers into memory before each transfer, and unlocks them after it."""
    stage.daily_life(10)
    stage.service("telemetry-in", 10, 10, 1)
    staging = stage.actor("rdma-stage", "locks", 512 * stage.scale, cpu=10, realtime=5)
    with stage.recording(quiet_s=20, after_s=12):
        stage.take(5.4, staging)
        stage.sleep(0.9)
        stage.mark("job-failed", "telemetry-in: 41 sources gave up", cpu=stage.cpu(10))


def spool_lister(stage: Stage) -> None:
    """A quota check lists a folder of a hundred thousand files on disk, over and over."""
    stage.groups.enable("cpu")
    stage.daily_life(6)
    stage.service("mail-submit", 6, 10, 2, cpu_weight="1")
    spool = stage.disk / "spool"
    spool.mkdir()
    stage.actor("spool-writer", "fill-folder", spool, 100000, 0).end()
    quota = stage.actor("spool-quota", "list", spool, cpu=6, cpu_weight="10000")
    with stage.recording(quiet_s=25, after_s=12):
        stage.take(5.8, quota)
        stage.sleep(0.6)
        stage.kernel("nic-tx-timeout", "hns3 0000:7d:00.1 eth2: Tx timeout, count: 3")
