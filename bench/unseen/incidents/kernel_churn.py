"""Incidents in which somebody has the kernel make, copy and give back small things without end."""

from __future__ import annotations

from bench.unseen.stage import Stage


def lock_files(stage: Stage) -> None:
    """A job makes a lock file for each record, and deletes it."""
    stage.daily_life(12)
    stage.service("seat-map", 12, 10, 1)
    folder = stage.shm / "locks"
    folder.mkdir()
    job = stage.actor("record-dedupe", "churn", folder, cpu=12, realtime=3)
    with stage.recording(quiet_s=17):
        stage.take(4.7, job)
        stage.sleep(0.5)
        stage.kernel("nic-tx-timeout", "gve 0000:00:04.0 eth0: Timeout on tx queue, 2")


def sandbox_groups(stage: Stage) -> None:
    """A runner makes a control group for each of its calls, and removes it at once."""
    stage.groups.enable("memory")
    stage.daily_life(7)
    stage.service("stock-level", 7, 10, 1)
    stage.groups.make("/functions/call-0", realtime=True)
    runner = stage.actor("fn-runner", "churn-folders", stage.groups.memory("/functions"), cpu=7, realtime=3)
    with stage.recording(quiet_s=18):
        stage.take(5, runner)
        stage.sleep(0.4)
        stage.kernel("netdev-watchdog", "NETDEV WATCHDOG: ens6 (ena): transmit queue 1 timed out")


def arena_reset(stage: Stage) -> None:
    """A parser gives its arena back to the kernel after each document, and touches all of it again."""
    stage.groups.enable("cpu")
    stage.daily_life(10)
    stage.service("shipping-quote", 10, 10, 2, cpu_weight="1")
    parser = stage.actor("xml-ingest", "reset-arena", 96, cpu=10, cpu_weight="10000")
    with stage.recording(quiet_s=18), stage.taken():
        parser.go(6)
        stage.sleep(5.3)
        stage.mark("slow-request", "shipping-quote: p99 above 3 s", cpu=stage.cpu(10))
        parser.answer()


def probe_script(stage: Stage) -> None:
    """A supervisor starts one tiny probe after the other; on another core a model trains, in nobody's way."""
    stage.groups.enable("cpu")
    stage.daily_life(5, 14)
    stage.service("gift-cards", 5, 10, 1)
    probe = stage.program("curl-probe")
    supervisor = stage.actor("health-loop", "children", probe, 0, cpu=5, realtime=2, group="/ops/health-loop")
    loud = stage.actor("embed-train", "spin", cpu=14, group="/users/embed-train", cpu_weight="20")
    with stage.recording(quiet_s=17):
        stage.take(5, loud, supervisor)
        stage.sleep(0.4)
        stage.kernel("nic-tx-timeout", "ionic 0000:b5:00.0 enp181s0: Tx Timeout triggered - txq 4")


def heap_sampler(stage: Stage) -> None:
    """A diagnostic agent copies the whole memory of a server, over and over; the server itself sleeps."""
    stage.daily_life(13)
    stage.service("push-gateway", 13, 10, 1)
    server = stage.actor("tile-server", "hold", 512 * stage.scale, cpu=8)
    sampler = stage.actor("heap-sampler", "copy-memory", server.pid, cpu=13, realtime=3)
    with stage.recording(quiet_s=17):
        stage.take(4.6, sampler)
        stage.sleep(0.7)
        stage.kernel("nic-tx-timeout", "igb 0000:01:00.0 eno1: Detected Tx Unit Hang")


def signal_storm(stage: Stage) -> None:
    """An emulator sends itself a signal for each of its ticks, and catches up on all it missed."""
    stage.daily_life(2)
    stage.service("toll-reader", 2, 20, 2)
    emulator = stage.actor("plc-emulator", "signals", cpu=2, realtime=3)
    with stage.recording(quiet_s=17):
        stage.take(4.8, emulator)
        stage.sleep(0.4)
        stage.mark("job-failed", "toll-reader: lost 190 frames", cpu=stage.cpu(2))
