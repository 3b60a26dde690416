"""Incidents in which a program computes and somebody else does not come to it."""

from __future__ import annotations

import shutil

from bench.unseen.stage import Stage


def short_encoder(stage: Stage) -> None:
    """Two and a half seconds of an encoder that calls itself something else once it runs."""
    stage.daily_life(6)
    stage.service("edge-proxy", 6, 10, 2)
    encoder = stage.actor("pipeline-init", "renamed-spin", "ffenc-live", cpu=6, realtime=4)
    with stage.recording(quiet_s=15):
        stage.take(2.6, encoder)
        stage.sleep(0.4)
        stage.kernel("nic-tx-timeout", "mlx5_core 0000:3b:00.0 ens3f0: TX timeout detected")


def two_disturbances(stage: Stage) -> None:
    """Two processes begin together, each fills a core; on one of the two cores somebody waits."""
    stage.daily_life(4, 11)
    stage.service("orderbook", 4, 20, 4)
    reindex = stage.actor("reindexd", "spin", cpu=11, group="/batch/reindexd")
    thumbs = stage.actor("thumbgen", "spin", cpu=4, realtime=2, group="/media/thumbgen")
    with stage.recording(quiet_s=16):
        stage.take(5, reindex, thumbs)
        stage.mark("stall", "orderbook answered nobody for 900 ms", cpu=stage.cpu(4))


def misnamed_container(stage: Stage) -> None:
    """A job of another team runs in the container group that is called payments-api."""
    stage.groups.enable("cpu")
    pod = "/kubepods/burstable/pod7c0e5a3b-91d2-4f0a-b6de-2f4c8a1f9e10"
    stage.daily_life(9)
    stage.service("checkout", 9, 10, 1.5, group="/kubepods/besteffort/podb1/checkout", cpu_weight="2")
    stage.actor("payments-api", "serve", 50000, 1000, cpu=9, group=f"{pod}/payments-api", cpu_weight="10000")
    rotate = stage.actor("zstd-rotate", "spin", cpu=9, group=f"{pod}/payments-api")
    stage.groups.make("/kubepods/burstable", cpu_weight="10000")
    stage.groups.make("/kubepods/besteffort", cpu_weight="1")
    with stage.recording(quiet_s=15), stage.taken():
        rotate.go(5)
        stage.sleep(4.2)
        stage.mark("slow-request", "checkout: request timed out, upstream did not answer in time")
        rotate.answer()


def kernel_like_name(stage: Stage) -> None:
    """A program of user space is called like a kernel worker."""
    stage.daily_life(9)
    stage.service("ceph-osd", 9, 10, 2)
    hog = stage.actor("kworker-9:2H-kb", "renamed-spin", "kworker/9:2H-kb", cpu=9, realtime=8)
    with stage.recording(quiet_s=17):
        stage.take(4, hog)
        stage.sleep(0.8)
        stage.kernel("nic-tx-timeout", "ionic 0000:b5:00.0 enp181s0: Tx Timeout triggered - txq 6")


def python_job(stage: Stage) -> None:
    """A Python job of much weight computes where a service of little weight lives."""
    stage.groups.enable("cpu")
    stage.daily_life(4)
    stage.service("bid-server", 4, 5, 1, cpu_weight="1")
    procs = stage.groups.make("/batch/nightly-features", cpu_weight="10000")
    python = shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin:/opt/torch/.venv/bin") or "python3"
    job = stage.started("python3", [python, "-c", _JOB, str(stage.cpu(4)), *procs])
    with stage.recording(quiet_s=15):
        stage.take(6, job)
        stage.sleep(0.5)
        stage.kernel("netdev-watchdog", "NETDEV WATCHDOG: ens6 (ena): transmit queue 3 timed out")


_JOB = """
import os, sys, time
for procs in sys.argv[2:]:
    open(procs, "w").write("0")
os.sched_setaffinity(0, {int(sys.argv[1])})
print("ready", flush=True)
for line in sys.stdin:
    until = time.monotonic() + float(line.split()[1])
    while time.monotonic() < until:
        table = {n: str(n * n) for n in range(4000)}
        sum(int(text) % 7 for text in table.values())
    print("done", flush=True)
"""


def made_code(stage: Stage) -> None:
    """A runtime that makes its machine code as it goes, and runs it."""
    stage.daily_life(12)
    stage.service("mesh-sidecar", 12, 10, 1)
    runtime = stage.actor("rulesvm", "made-code", cpu=12, realtime=3)
    with stage.recording(quiet_s=14):
        stage.take(4, runtime)
        stage.sleep(1.1)
        stage.kernel("nic-tx-timeout", "gve 0000:00:04.0 eth0: Timeout on tx queue, 9")


def crowd(stage: Stage) -> None:
    """More compilers than cores, on two cores that a service shares with them."""
    stage.groups.enable("cpu")
    stage.daily_life(2, 3)
    stage.service("session-store", 3, 20, 4, group="/prod/session-store", cpu_weight="100")
    stage.groups.make("/prod", cpu_weight="5")
    crowd = [stage.actor("cc1plus", "spin", cpu=(2, 3), group="/ci/build-4412") for _ in range(24)]
    with stage.recording(quiet_s=15), stage.taken():
        for one in crowd:
            one.go(6)
        stage.sleep(5.5)
        stage.mark("job-failed", "session-store: health check failed three times", cpu=stage.cpu(3))
        for one in crowd:
            one.answer()


def short_lived(stage: Stage) -> None:
    """A queue starts one converter after the other; no single one lives for long."""
    stage.daily_life(2)
    stage.service("cart-api", 2, 10, 1)
    convert = stage.program("convert")
    queue = stage.actor("thumb-queue", "children", convert, 150, cpu=2, realtime=1, group="/media/thumb-queue")
    with stage.recording(quiet_s=15):
        stage.take(5, queue)
        stage.sleep(0.3)
        stage.kernel("nic-tx-timeout", "virtio_net virtio0 eth0: TX timeout on queue: 1, sq: output.1, vq: 0x3, "
                     "name: output.1, 5632000 usecs ago")  # fmt: skip


def twin_workers(stage: Stage) -> None:
    """Two containers run a program of the same name; one of them has a core that somebody else needs."""
    stage.groups.enable("cpu")
    stage.daily_life(11, 15)
    stage.service("ledger-db", 11, 10, 2, cpu_weight="1")
    calm, guilty = (f"/docker/{digit * 64}" for digit in "a4")
    other = stage.actor("worker", "spin", cpu=15, group=calm, cpu_weight="100")
    worker = stage.actor("worker", "spin", cpu=11, group=guilty, cpu_weight="10000")
    stage.played.guilty.append(worker.pid)
    with stage.recording(quiet_s=16):
        stage.take(5, other, worker)
        stage.sleep(0.2)
        stage.mark("stall", "ledger-db: commit took too long")


def shared_guilt(stage: Stage) -> None:
    """Two processes take a core together, one half each."""
    stage.daily_life(7)
    stage.service("geo-lookup", 7, 10, 1)
    pair = [stage.actor(name, "spin", cpu=7, realtime=5) for name in ("ingest-a", "index-b")]
    with stage.recording(quiet_s=15):
        stage.take(5, *pair)
        stage.sleep(0.6)
        stage.kernel("nic-tx-timeout", "ice 0000:18:00.0 ens1f0: tx_timeout: VSI_num: 8, Q 41, NTC: 0x12, "
                     "HW_HEAD: 0x12, NTU: 0x22, INT: 0x0")  # fmt: skip


def second_of_two(stage: Stage) -> None:
    """Two cores are taken, one after the other, by two programs; the later complaint is about the later one."""
    stage.daily_life(2, 7)
    stage.service("cache-edge", 2, 10, 1)
    stage.service("search-shard", 7, 20, 3)
    prefetch = stage.actor("cdn-prefetch", "spin", cpu=2, realtime=4)
    merge = stage.actor("index-merge", "spin", cpu=7, realtime=2, group="/search/index-merge")
    with stage.recording(quiet_s=21, after_s=12):
        stage.take(3, prefetch)
        stage.sleep(0.4)
        stage.kernel("nic-tx-timeout", "gve 0000:00:04.0 eth0: Timeout on tx queue, 4")
        stage.sleep(15)
        stage.take(3.6, merge)
        stage.sleep(0.5)
        stage.kernel("netdev-watchdog", "NETDEV WATCHDOG: enp7s0 (e1000e): transmit queue 1 timed out 5208 ms")
