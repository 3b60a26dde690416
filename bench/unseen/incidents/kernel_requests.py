"""Incidents in which a process keeps the kernel busy with small requests about itself."""

from __future__ import annotations

from bench.unseen.stage import Stage


def thread_times(stage: Stage) -> None:
    """A server with many threads asks, for each request, how long all of them have run."""
    stage.daily_life(5)
    stage.service("lift-control", 5, 10, 1)
    server = stage.actor("apm-server", "process-clock", 1500, cpu=5, realtime=3)
    with stage.recording(quiet_s=12, after_s=7):
        stage.take(4.9, server)
        stage.sleep(0.5)
        stage.kernel(
            "rcu-starved",
            "rcu: rcu_preempt kthread starved for 1251 jiffies! g48068 f0x0 RCU_GP_WAIT_FQS(5) ->state=0x0 "
            f"->cpu={stage.cpu(5)}",
        )


def packet_filter(stage: Stage) -> None:
    """A sniffer's filter compares each datagram with two thousand values; nearly all are discarded."""
    stage.daily_life(10)
    stage.service("turnstile", 10, 10, 1)
    sniffer = stage.actor("flow-sniffer", "socket-filter", cpu=10, realtime=3)
    with stage.recording(quiet_s=12, after_s=7):
        stage.take(4.4, sniffer)
        stage.sleep(0.7)
        stage.kernel("nic-tx-timeout", "ixgbe 0000:04:00.0 eth4: initiating reset due to tx timeout")


def huge_scratch(stage: Stage) -> None:
    """A solver takes its scratch memory in huge pages and gives it back after each step."""
    stage.groups.enable("cpu")
    stage.daily_life(6)
    stage.service("fx-quotes", 6, 10, 2, cpu_weight="1")
    solver = stage.actor("mesh-solver", "huge-pages", 256, cpu=6, cpu_weight="10000")
    with stage.recording(quiet_s=13, after_s=7), stage.taken():
        solver.go(6)
        stage.sleep(5.2)
        stage.mark("slow-request", "fx-quotes: 24 quotes older than 2 s", cpu=stage.cpu(6))
        solver.answer()


def moving_heap(stage: Stage) -> None:
    """A runtime moves its heap to another address and back; another job computes elsewhere, in nobody's way."""
    stage.daily_life(3, 8)
    stage.service("locker-api", 3, 10, 1)
    loud = stage.actor("blender-bake", "spin", cpu=8, group="/users/blender-bake")
    runtime = stage.actor("lua-worker", "move-memory", 64, cpu=3, realtime=3)
    with stage.recording(quiet_s=13, after_s=7):
        stage.take(4.7, loud, runtime)
        stage.sleep(0.4)
        stage.kernel("softirq-pending", "NOHZ tick-stop error: local softirq work is pending, handler #08!!!")
        stage.sleep(0.2)
        stage.kernel("nic-tx-timeout", "r8169 0000:01:00.0 enp1s0: transmit timed out")


def yield_loop(stage: Stage) -> None:
    """A program waits for a lock of its own by offering its core to others; by its priority nobody may take it."""
    stage.daily_life(13)
    stage.service("dock-planner", 13, 20, 2)
    loop = stage.actor("audio-engine", "yields", cpu=13, realtime=6)
    with stage.recording(quiet_s=12, after_s=7):
        stage.take(5, loop)
        stage.sleep(0.5)
        stage.mark("job-failed", "dock-planner: worker missed five heartbeats", cpu=stage.cpu(13))
