"""Controls: a loaded node, and a complaint that its load has nothing to do with."""

from __future__ import annotations

from bench.unseen.stage import Stage


def quota_above(stage: Stage) -> None:
    """Somebody lowers the quota of the group that a service's group is in; its core computes for others meanwhile."""
    stage.groups.enable("cpu")
    stage.daily_life(9)
    group = "/prod-shop/basket-api"
    basket = stage.service("basket-api", 9, 50, 20, group=group, cpu_weight="100")
    stage.groups.make("/users", cpu_weight="5")
    loud = stage.actor("notebook-7", "spin", cpu=9, group="/users/notebook-7", cpu_weight="5")
    with stage.recording(quiet_s=13), stage.taken():
        loud.go(7)
        stage.groups.make("/prod-shop", cpu_max="8000 100000")
        stage.sleep(6)
        stage.mark("slow-request", "basket-api: 8 of 10 requests took more than a second", pid=basket.pid)
        stage.groups.make("/prod-shop", cpu_max="100000 100000")
        loud.answer()


def quota_of_threads(stage: Stage) -> None:
    """A render of four threads is stopped by its quota; elsewhere a core is full of a build that nobody waits for."""
    stage.groups.enable("cpu")
    stage.daily_life(12)
    build = stage.actor("go-link", "spin", cpu=12, group="/ci/build-31", cpu_weight="20")
    render = stage.actor(
        "pdf-render", "spin-threads", 4, cpu=(5, 7, 9, 11), group="/jobs/pdf-render", cpu_max="15000 100000"
    )
    with stage.recording(quiet_s=12):
        stage.take(7, build, render)
        stage.mark("job-failed", "pdf-render: 300 pages took longer than the deadline", pid=render.pid)


def controller_down(stage: Stage) -> None:
    """A disk's controller is gone, while a job of the idle class has the kernel make random numbers."""
    stage.groups.enable("cpu")
    stage.daily_life()
    stage.service("news-feed", 6, 20, 3, cpu_weight="200")
    stage.groups.make("/lowprio", cpu_weight="1")
    job = stage.actor("disk-wipe", "randomness", cpu=7, idle=True, group="/lowprio/disk-wipe")
    with stage.recording(quiet_s=13):
        stage.take(6, job)
        stage.kernel("storage-timeout", "nvme nvme0: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0x10")


def machine_check(stage: Stage) -> None:
    """A processor reports an error of its cache; that very core is full of a job that yields to all others."""
    stage.groups.enable("cpu")
    stage.daily_life()
    stage.service("claims-api", 5, 20, 3, cpu_weight="200")
    stage.groups.make("/scavenge", cpu_idle="1")
    job = stage.actor("boinc-unit", "spin", cpu=5, group="/scavenge/boinc-unit", cpu_idle="1")
    with stage.recording(quiet_s=12):
        stage.take(6.5, job)
        stage.kernel(
            "hardware-error",
            f"mce: [Hardware Error]: CPU {stage.cpu(5)}: Machine Check Exception: 5 Bank 7: be00000000800400",
        )


def refused_elsewhere(stage: Stage) -> None:
    """A trainer has a core for itself, and ends because a machine elsewhere closed its connection."""
    stage.daily_life(4, 11)
    trainer = stage.actor("ddp-rank-3", "spin", cpu=11, group="/jobs/train-207")
    loader = stage.actor("ddp-loader", "bursts", 120, 80, cpu=4, group="/jobs/train-207")
    with stage.recording(quiet_s=12):
        stage.take(6.5, loader, trainer)
        stage.mark(
            "job-failed", "job 207 failed: NCCL WARN connection closed by remote peer 10.7.1.44", pid=trainer.pid
        )


def waits_for_storage(stage: Stage) -> None:
    """A task waits without interruption for another; jobs of the idle class use what is left of two cores."""
    stage.groups.enable("cpu")
    stage.daily_life()
    stage.service("auction-bids", 7, 20, 3, cpu_weight="200")
    stage.groups.make("/scavenge", cpu_idle="1")
    jobs = [
        stage.actor("prime-search", "spin", cpu=cpu, group="/scavenge/prime-search", cpu_idle="1") for cpu in (7, 8)
    ]
    mount = stage.actor("nfs-rescan", "stuck", 26)
    mount.go(26)
    with stage.recording(quiet_s=12):
        stage.take(5, *jobs)
        stage.kernel("hung-task", f"INFO: task nfs-rescan:{mount.pid} blocked for more than 120 seconds.")


def seventeen_seconds(stage: Stage) -> None:
    """A core was held for seconds; seventeen seconds later, on a calm node, a GPU falls off its bus."""
    stage.daily_life(13)
    stage.service("taxi-match", 13, 10, 1)
    hog = stage.actor("locate-update", "spin", cpu=13, realtime=3)
    with stage.recording(quiet_s=9, after_s=4):
        stage.take(3.5, hog)
        stage.sleep(17)
        stage.kernel(
            "gpu-xid", "NVRM: Xid (PCI:0000:c1:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
        )


def collector_of_the_alarm(stage: Stage) -> None:
    """A driver complains on a calm node; what the alarm starts reads the kernel's symbols, before everybody else."""
    stage.daily_life(6)
    stage.service("toll-plaza", 6, 10, 1)
    collector = stage.actor("crash-collect", "read-one", "/proc/kallsyms", cpu=6, realtime=3)
    with stage.recording(quiet_s=14):
        stage.kernel("nic-tx-timeout", "ixgbe 0000:04:00.0 eth4: initiating reset due to tx timeout")
        stage.sleep(0.9)
        stage.take(4, collector)


def named_queue_idle(stage: Stage) -> None:
    """A job reads statistics of slabs before everybody else on one core; the driver names another, which is idle."""
    stage.daily_life(3, 8)
    stage.service("metro-signs", 8, 10, 1)
    reader = stage.actor("slab-top", "read-one", "/proc/slabinfo", cpu=8, realtime=3)
    with stage.recording(quiet_s=13):
        stage.take(4.8, reader)
        stage.sleep(0.4)
        stage.kernel(
            "nic-tx-timeout",
            "ena 0000:00:05.0 ens5: TX q 6 is paused for too long (threshold 5000000). "
            f"usecs since napi 5188000. napi scheduled: 0. napi CPU: {stage.cpu(3)}. msecs since interrupt: 5188",
        )
