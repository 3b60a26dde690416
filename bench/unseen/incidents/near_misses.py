"""Complaints at a time when something goes on that they have nothing to do with."""

from __future__ import annotations

from bench.unseen.incidents.memory_groups import sparse
from bench.unseen.stage import Stage


def throttled_api(stage: Stage) -> None:
    """Somebody lowers the quota of a service; on another core a job computes, in nobody's way."""
    stage.groups.enable("cpu")
    stage.daily_life(9, 14)
    group = "/prod/quote-api"
    api = stage.service("quote-api", 9, 50, 20, group=group, cpu_weight="100")
    loud = stage.actor("zip-nightly", "spin", cpu=14, group="/batch/zip-nightly", cpu_weight="20")
    with stage.recording(quiet_s=18), stage.taken():
        loud.go(7)
        stage.groups.make(group, cpu_max="8000 100000")
        stage.sleep(6)
        stage.mark("slow-request", "quote-api: 9 of 10 requests took more than a second", pid=api.pid)
        stage.groups.make(group, cpu_max="100000 100000")
        loud.answer()


def tight_but_fine(stage: Stage) -> None:
    """A job of the idle class reclaims at the limit of its group, and nobody waits for it; a GPU reports an error."""
    stage.groups.enable("cpu", "memory")
    stage.daily_life()
    stage.service("cms-api", 6, 20, 3, cpu_weight="200")
    big = sparse(stage.disk / "clicks.log", 4096)
    stage.groups.make("/lowprio", cpu_weight="1")
    reader = stage.actor(
        "log-compact", "refault", big, cpu=7, idle=True, group="/lowprio/log-compact", memory_max=str(48 << 20)
    )
    with stage.recording(quiet_s=18):
        stage.take(6, reader)
        stage.kernel(
            "gpu-xid", "NVRM: Xid (PCI:0000:81:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
        )


def leak_not_yet(stage: Stage) -> None:
    """Groups are left behind by the thousand, and nobody pays for them so far; a disk does not answer."""
    stage.groups.enable("memory")
    stage.daily_life(9)
    stage.service("tax-calc", 9, 20, 3, cpu_weight="100")
    stage.groups.make("/builds/first", realtime=True)
    builds = stage.groups.memory("/builds")
    leaker = stage.actor("image-build", "leave-behind", builds, stage.shm, 1200, 60, group="/agents/image-build")
    with stage.recording(quiet_s=20):
        with stage.taken():
            stage.sleep(4)
        stage.kernel("storage-timeout", "nvme nvme2: I/O 301 QID 1 timeout, aborting")
    leaker.end()


def memory_errors(stage: Stage) -> None:
    """A memory module fails, while an agent of the idle class reads the kernel's symbols over and over."""
    stage.groups.enable("cpu")
    stage.daily_life()
    stage.service("bookings", 5, 20, 3, cpu_weight="200")
    stage.groups.make("/agents", cpu_weight="1")
    agent = stage.actor("ebpf-agent", "read-one", "/proc/kallsyms", cpu=5, idle=True, group="/agents/ebpf-agent")
    with stage.recording(quiet_s=18):
        stage.take(6, agent)
        stage.kernel(
            "hardware-error",
            "EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0 (channel:1 slot:0 page:0x3f2c81 "
            "offset:0x0 grain:32 -  err_code:0x0101:0x0091 socket:0 imc:0 rank:1)",
        )


def expired_certificate(stage: Stage) -> None:
    """A build fills all cores, and everybody gets his share; a job fails over a certificate."""
    stage.groups.enable("cpu")
    stage.daily_life()
    stage.service("invoice-api", 8, 20, 3, cpu_weight="200")
    stage.groups.make("/ci", cpu_weight="5")
    build = [stage.actor("clang", "spin", group="/ci/build-99") for _ in range(stage.played.cpus)]
    with stage.recording(quiet_s=17):
        stage.take(7, *build)
        stage.mark("job-failed", "backup-push failed: x509: certificate has expired or is not yet valid")


def upstream_slow(stage: Stage) -> None:
    """A service waits for another machine; jobs of the idle class use what is left of each core."""
    stage.groups.enable("cpu")
    stage.daily_life()
    front = stage.service("shop-front", 4, 20, 3, cpu_weight="200")
    stage.groups.make("/scavenge", cpu_idle="1")
    jobs = [
        stage.actor("protein-fold", "spin", cpu=cpu, group="/scavenge/protein-fold", cpu_idle="1") for cpu in (4, 5)
    ]
    with stage.recording(quiet_s=18):
        stage.take(6.5, *jobs)
        stage.mark("slow-request", "shop-front: upstream 10.4.0.17:9000 answered after 6.1 s", pid=front.pid)


def burst_before_lunch(stage: Stage) -> None:
    """A core was held for seconds; twenty-two seconds later, on a calm node, a disk cannot read a sector."""
    stage.daily_life(7)
    stage.service("pos-sync", 7, 10, 1)
    hog = stage.actor("av-scan", "spin", cpu=7, realtime=3)
    with stage.recording(quiet_s=12):
        stage.take(4, hog)
        stage.sleep(22)
        stage.kernel(
            "io-error",
            "critical medium error, dev sdb, sector 80021504 op 0x0:(READ) flags 0x80700 phys_seg 1 prio class 2",
        )


def after_the_fact(stage: Stage) -> None:
    """A driver complains on a calm node; only then does somebody take a core, to collect what is known about it."""
    stage.daily_life(10)
    stage.service("chat-relay", 10, 10, 1)
    collector = stage.actor("sos-collect", "spin", cpu=10, realtime=3)
    with stage.recording(quiet_s=20, after_s=6):
        stage.kernel("nic-tx-timeout", "mlx5_core 0000:86:00.0 enp134s0: TX timeout detected")
        stage.sleep(0.8)
        stage.take(4, collector)


def named_other_core(stage: Stage) -> None:
    """A core is held, and a service waits there; the driver names a queue of another core, which is idle."""
    stage.daily_life(2, 7)
    stage.service("bus-times", 7, 10, 1)
    hog = stage.actor("gtfs-import", "spin", cpu=7, realtime=3)
    with stage.recording(quiet_s=18):
        stage.take(5, hog)
        stage.sleep(0.3)
        stage.kernel(
            "nic-tx-timeout",
            "ena 0000:00:05.0 ens5: TX q 2 is paused for too long (threshold 5000000). "
            f"usecs since napi 5304000. napi scheduled: 0. napi CPU: {stage.cpu(2)}. msecs since interrupt: 5304",
        )
