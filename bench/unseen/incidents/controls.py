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
