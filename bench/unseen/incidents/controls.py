"""Complaints that no core has to do with, and things that only look guilty."""

from __future__ import annotations

from bench.unseen.stage import Stage


def disk_timeout(stage: Stage) -> None:
    """A calm node; a disk does not answer."""
    stage.daily_life()
    stage.service("billing", 6, 20, 3, cpu_weight="100")
    with stage.recording(quiet_s=19):
        with stage.taken():
            stage.sleep(3)
        stage.kernel("storage-timeout", "nvme nvme0: I/O 12 QID 3 timeout, aborting")


def ever_the_same(stage: Stage) -> None:
    """A poller holds its core since long before the recording, and goes on."""
    stage.daily_life(6)
    stage.service("legacy-gw", 6, 10, 1, cpu_weight="200")
    poller = stage.actor("legacy-poller", "spin", cpu=6, realtime=3)
    poller.go(300)
    stage.sleep(4)
    with stage.recording(quiet_s=18):
        with stage.taken():
            stage.sleep(4)
        stage.kernel("nic-tx-timeout", "mlx5_core 0000:3b:00.0 ens3f0: TX timeout detected")


def another_core(stage: Stage) -> None:
    """A job fills a core where nobody else is; the driver names a core that is idle."""
    stage.daily_life(3, 12)
    stage.service("ntp-check", 3, 50, 1, cpu_weight="100")
    job = stage.actor("video-scan", "spin", cpu=12, group="/batch/video-scan")
    with stage.recording(quiet_s=15):
        stage.take(6, job)
        stage.sleep(0.3)
        stage.kernel(
            "nic-tx-timeout",
            "ena 0000:00:05.0 ens5: TX q 3 is paused for too long (threshold 5000000). "
            f"usecs since napi 7012000. napi scheduled: 0. napi CPU: {stage.cpu(3)}. msecs since interrupt: 7012",
        )


def long_over(stage: Stage) -> None:
    """A core was held for a while; a quarter of a minute later a job fails over a licence."""
    stage.daily_life(14)
    stage.service("doc-render", 14, 10, 1)
    hog = stage.actor("font-cache", "spin", cpu=14, realtime=3)
    with stage.recording(quiet_s=13, after_s=5):
        stage.take(2.5, hog)
        stage.sleep(15)
        stage.mark("job-failed", "job 90 failed: the licence server refused the seat")


def polite_batch(stage: Stage) -> None:
    """A job of the idle class fills the core of a busy service, which never waits for it."""
    stage.groups.enable("cpu")
    stage.daily_life(8)
    stage.service("search-leaf", 8, 10, 4, cpu_weight="200")
    batch = stage.actor("fold-batch", "spin", cpu=8, group="/idle/fold-batch", cpu_idle="1")
    stage.groups.make("/idle", cpu_idle="1")
    with stage.recording(quiet_s=15):
        stage.take(6, batch)
        stage.kernel("nic-tx-timeout", "hns3 0000:7d:00.0 eth3: Tx timeout, count: 1")


def own_work(stage: Stage) -> None:
    """A trainer has a core for itself, and fails over its input."""
    stage.daily_life(10)
    trainer = stage.actor("train-loop", "spin", cpu=10, group="/jobs/train-81")
    with stage.recording(quiet_s=15):
        stage.take(7, trainer)
        stage.mark("job-failed", "job 81 failed: ValueError: label 17 is out of range", pid=trainer.pid)


def stuck_task(stage: Stage) -> None:
    """A task waits without interruption for another process that does nothing; the cores are idle."""
    stage.daily_life(7)
    stage.service("pg-replica", 7, 20, 2, cpu_weight="100")
    archiver = stage.actor("pg-archiver", "stuck", 60)
    archiver.go(60)
    with stage.recording(quiet_s=18):
        with stage.taken():
            stage.sleep(2)
        stage.kernel("hung-task", f"INFO: task pg-archiver:{archiver.pid} blocked for more than 120 seconds.")


def own_limit(stage: Stage) -> None:
    """A job allocates beyond the limit of its group, and the kernel ends it: its own line tells."""
    stage.groups.enable("memory")
    stage.daily_life(9)
    stage.service("catalogue", 9, 20, 2, cpu_weight="100")
    importer = stage.actor("csv-import", "touch", 4096, cpu=4, group="/jobs/csv-import", memory_max=str(256 << 20))
    with stage.recording(quiet_s=16, real_log=True):
        with stage.taken():
            importer.go(10)
            importer.wait()
        stage.complained("oom-kill", "csv-import was killed at the limit of its group")


def all_is_well(stage: Stage) -> None:
    """A job says that it is through, and that nothing was wrong."""
    stage.daily_life(5)
    trainer = stage.actor("train-loop", "spin", cpu=5, group="/jobs/train-82")
    with stage.recording(quiet_s=14):
        stage.take(5, trainer)
        stage.mark("job-finished", "job 82 finished, no errors, latest checkpoint saved")


def busy_and_broken(stage: Stage) -> None:
    """A build fills every core for a while, and shares them; a GPU falls off its bus."""
    stage.daily_life()
    stage.service("kv-cache", 6, 20, 2, cpu_weight="100")
    build = [stage.actor("rustc", "spin", group="/ci/build-7") for _ in range(stage.played.cpus)]
    with stage.recording(quiet_s=15):
        stage.take(6, *build)
        stage.kernel(
            "gpu-xid", "NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
        )


def high_mark(stage: Stage) -> None:
    """A job above the soft limit of its group is slowed down by the kernel; nobody else is."""
    stage.groups.enable("memory")
    stage.daily_life(11)
    stage.service("profile-api", 11, 20, 2, cpu_weight="100")
    job = stage.actor("feature-store", "touch", 400, cpu=11, group="/jobs/feature-store", memory_high=str(200 << 20))
    with stage.recording(quiet_s=15):
        stage.take(6, job)
        stage.mark("job-failed", "feature-store: batch 19 took 6 s instead of 0.2 s")


def out_of_quota(stage: Stage) -> None:
    """A job is stopped by its CPU quota, again and again; beside it somebody computes whom nobody waits for."""
    stage.groups.enable("cpu")
    stage.daily_life(8)
    bystander = stage.actor("go-analysis", "spin", cpu=8, group="/users/go-analysis")
    report = stage.actor(
        "nightly-report", "spin-threads", 4, cpu=(4, 5, 6, 7), group="/jobs/nightly-report", cpu_max="20000 100000"
    )
    with stage.recording(quiet_s=15):
        stage.take(8, report, bystander)
        stage.mark("job-failed", "nightly-report missed its deadline")


def quiet_log(stage: Stage) -> None:
    """A healthy node: a little more to do on both cores for a moment, and lines in the log that complain of nothing."""
    stage.groups.enable("cpu")
    stage.daily_life()
    stage.service("wiki", 4, 50, 4, cpu_weight="100")
    jobs = [
        stage.actor(name, "spin", cpu=cpu, cpu_weight="20") for name, cpu in (("man-db-update", 2), ("logrotate", 3))
    ]
    with stage.recording(quiet_s=22, after_s=13):
        stage.kernel("none", "veth41c2f7e: entered promiscuous mode")
        stage.take(1.5, *jobs)
        stage.kernel("none", "EXT4-fs (vdb1): mounted filesystem 5b0f77c2-3d7e-4b52-8a53-0f6a4be1c9d1 r/w with ordered "
                     "data mode. Quota mode: none.")  # fmt: skip
        stage.sleep(3)
        stage.kernel("none", "systemd-journald[212]: Received client request to flush runtime journal.")


def minute_later(stage: Stage) -> None:
    """A core was held; a minute later, when the node has long been calm, a driver complains."""
    stage.daily_life(5)
    stage.service("route-agent", 5, 10, 1)
    hog = stage.actor("geoip-rebuild", "spin", cpu=5, realtime=3)
    with stage.recording(quiet_s=20, after_s=12):
        stage.take(4, hog)
        stage.sleep(60)
        stage.kernel("nic-tx-timeout", "mlx5_core 0000:3b:00.1 ens3f1: TX timeout detected")


def batch_throughout(stage: Stage) -> None:
    """A batch of little weight fills both cores before, during and after; nobody waits for it."""
    stage.groups.enable("cpu")
    stage.daily_life()
    stage.service("ad-ranker", 7, 20, 3, cpu_weight="200")
    stage.groups.make("/batch", cpu_weight="2")
    batch = [stage.actor("render-tiles", "spin", cpu=cpu, group="/batch/render-tiles") for cpu in (2, 3)]
    for one in batch:
        one.go(300)
    stage.sleep(5)
    with stage.recording(quiet_s=24, after_s=14):
        with stage.taken():
            stage.sleep(3)
        stage.kernel(
            "netdev-watchdog",
            f"ena 0000:00:05.0 ens5: NETDEV WATCHDOG: CPU: {stage.cpu(7)}: transmit queue 7 timed out 5120 ms",
        )


def bad_sector(stage: Stage) -> None:
    """A disk cannot read a sector, while a check of the idle class uses what is left of both cores."""
    stage.groups.enable("cpu")
    stage.daily_life()
    stage.service("photo-store", 8, 20, 4, cpu_weight="200")
    stage.groups.make("/maintenance", cpu_weight="1")
    checks = [stage.actor("raid-check", "spin", cpu=cpu, idle=True, group="/maintenance/raid-check") for cpu in (8, 9)]
    with stage.recording(quiet_s=22, after_s=12):
        stage.take(8, *checks)
        stage.kernel(
            "io-error",
            "critical medium error, dev sdc, sector 23551488 op 0x0:(READ) flags 0x80700 phys_seg 1 prio class 2",
        )


def paused_container(stage: Stage) -> None:
    """A backup freezes a container for as long as it copies; meanwhile somebody else computes on that core."""
    stage.groups.enable("cpu")
    stage.daily_life(11)
    group = "/pods/media-index"
    index = stage.service("media-index", 11, 20, 3, group=group, cpu_weight="100")
    render = stage.actor("thumb-render", "spin", cpu=11, group="/media/thumb-render", cpu_weight="20")
    stage.groups.make("/media", cpu_weight="20")
    with stage.recording(quiet_s=22, after_s=12), stage.taken():
        render.go(6)
        stage.sleep(0.6)
        stage.groups.freeze(group, True)
        stage.sleep(4.6)
        stage.mark("slow-request", "media-index: 57 requests timed out, no answer for 4 s", pid=index.pid)
        stage.groups.freeze(group, False)
        render.answer()


def sync_storm(stage: Stage) -> None:
    """An archiver syncs small records, as slowly as its group may write; a database commits to the same disk."""
    stage.groups.enable("io")
    stage.daily_life(9)
    volume = stage.volume(512)
    limit = f"{volume.device} wbps=300000"
    stage.service("orders-db", 9, 50, 1, cpu_weight="100", journal=volume.path / "orders.journal")
    archivers = [
        stage.actor("event-archiver", "sync", volume.path, 65536, group="/batch/event-archiver", io_max=limit)
        for _ in range(4)
    ]
    with stage.recording(quiet_s=21, after_s=13):
        stage.take(5, *archivers)
        stage.mark("slow-request", "orders-db: commits take longer than half a second")
