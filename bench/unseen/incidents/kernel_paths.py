"""Incidents in which the kernel works for somebody, and holds a core meanwhile."""

from __future__ import annotations

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
