"""Lines of one event become one episode: real and format-true logs, and the ways in which they must not join."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.sense.log.episodes import Episode
from necroscope.sense.log.joining import Joiner
from necroscope.sense.log.kmsg import LogRecord, parse_records
from necroscope.sense.log.symptoms import catalogue

LOGS = Path(__file__).parents[1] / "logs"
ENA = "ena 0000:20:03.0 eth0: "
PAUSED = ENA + "TX q {} is paused for too long (threshold 5000000). Time since last napi {} usec. napi scheduled: 1"
COMPLETED = "ena 0000:20:03.0: Device reset completed successfully"


def _lines(*lines: tuple[float, str], caller: str = "") -> list[LogRecord]:
    return [LogRecord(seq, round(at_s * 1e6), 4, 0, text, caller) for seq, (at_s, text) in enumerate(lines)]


def _episodes(records: list[LogRecord]) -> list[Episode]:
    joiner = Joiner(catalogue())
    joiner.feed(records)
    return joiner.take()


def _log(name: str) -> list[Episode]:
    return _episodes(parse_records((LOGS / name).read_bytes()))


def _kinds(episodes: list[Episode]) -> list[str]:
    return [episode.kind.name for episode in episodes]


# -- network devices ---------------------------------------------------------------------------------


def test_the_reset_of_the_incident_is_one_episode() -> None:
    (reset,) = _log("ena_reset_2.11.kmsg")
    assert reset.kind.name == "nic-reset"
    assert reset.queues == ["5"]
    assert reset.fields == {
        "driver": "ena",
        "bus": "0000:20:03.0",
        "device": "eth0",
        "queue": "5",
        "threshold_us": "5000000",
        "stall_us": "6596000",
        "napi_scheduled": "1",
        "freed_queue": "9",
        "reason": "poll-starvation",
        "outcome": "completed",
        "driver_info": "Elastic Network Adapter (ENA) v2.11.0g",
    }


def test_ena_2_17_names_the_cpu_in_a_line_that_exchanges_it_with_the_queue() -> None:
    (reset,) = _log("ena_reset_2.17.kmsg")
    assert (reset.kind.name, reset.queues) == ("nic-reset", ["4", "7"])
    assert reset.fields["napi_cpu"] == "39"
    assert reset.fields["reason"] == "missed-tx-completions"
    assert (reset.fields["missed"], reset.fields["stall_us"]) == ("129", "6013000")


@pytest.mark.parametrize(("pair", "cpu"), [("qid: 39, napi CPU: 4", "39"), ("qid: 4, napi CPU: 39", "39")])
def test_the_exchange_is_checked_against_the_queue_before(pair: str, cpu: str) -> None:
    first = (
        "[1/2] Lost TX completions are above threshold (129 > 128), completion timeout: 5000 (msec), "
        "1 msecs since interrupt, 2 msecs since napi, qid: 4"
    )
    (reset,) = _episodes(_lines((1.0, ENA + first), (1.1, ENA + f"[2/2] {pair}")))
    assert (reset.queues, reset.fields["napi_cpu"]) == (["4"], cpu)


def test_an_exchange_that_fits_no_queue_names_no_cpu() -> None:
    first = "No completion descriptors found in CQ 6"
    (reset,) = _episodes(_lines((1.0, ENA + first), (1.1, ENA + "[2/2] qid: 39, napi CPU: 4")))
    assert reset.queues == ["6"]
    assert "napi_cpu" not in reset.fields


def test_the_watchdog_and_the_driver_tell_of_one_event_and_its_stack_is_nobodys() -> None:
    (reset,) = _log("netdev_watchdog_4.15.kmsg")
    assert reset.kind.name == "nic-reset"
    assert (reset.fields["device"], reset.fields["driver"], reset.queues) == ("eth0", "ena", ["5"])
    assert reset.stack.frames == ()
    assert "cpu" not in reset.fields


def test_a_lone_completed_reset_is_a_reset() -> None:
    (reset,) = _episodes(_lines((1.0, COMPLETED)))
    assert (reset.kind.name, reset.fields["bus"]) == ("nic-reset", "0000:20:03.0")
    assert "device" not in reset.fields


def test_a_device_known_by_its_address_is_named_as_other_lines_named_it() -> None:
    episodes = _episodes(_lines((1.0, ENA + "Trigger reset is on"), (1.1, COMPLETED), (90.0, COMPLETED)))
    assert [episode.fields["device"] for episode in episodes] == ["eth0", "eth0"]


def test_a_completed_reset_ends_the_event() -> None:
    lines = [
        (1.0, PAUSED.format(5, 6000000)),
        (1.2, COMPLETED),
        (2.0, ENA + "Keep alive watchdog timeout."),
        (2.2, COMPLETED),
    ]
    resets = _episodes(_lines(*lines))
    assert [(reset.kind.name, reset.fields["reason"]) for reset in resets] == [
        ("nic-reset", "tx-timeout"),
        ("nic-reset", "keep-alive"),
    ]


def test_two_devices_are_two_events() -> None:
    other = PAUSED.format(2, 6000000).replace("0000:20:03.0 eth0", "0000:20:04.0 eth1")
    episodes = _episodes(_lines((1.0, PAUSED.format(5, 6000000)), (1.0, other), (1.2, COMPLETED)))
    assert [(episode.kind.name, episode.fields["device"]) for episode in episodes] == [
        ("nic-reset", "eth0"),
        ("nic-tx-timeout", "eth1"),
    ]


def test_lines_too_far_apart_are_two_events() -> None:
    assert _kinds(_episodes(_lines((1.0, PAUSED.format(5, 6000000)), (12.0, COMPLETED)))) == [
        "nic-tx-timeout",
        "nic-reset",
    ]


def test_the_same_complaint_a_second_later_is_another_event() -> None:
    line = "gve 0000:00:04.0: Performing reset"
    assert len(_episodes(_lines((1.0, line), (1.5, line)))) == 1
    assert len(_episodes(_lines((1.0, line), (6.0, line)))) == 2


POLL = ENA + "napi handler hasn't been called for a long time but is scheduled"


@pytest.mark.parametrize("later", [PAUSED.format(0, 6000000), POLL])
def test_a_further_complaint_comes_soon_or_is_another_event(later: str) -> None:
    first = PAUSED.format(1, 4000000)
    assert _kinds(_episodes(_lines((1.0, first), (3.5, later)))) == ["nic-tx-timeout"]
    apart = _episodes(_lines((1.0, first), (9.9, later), (10.0, COMPLETED)))
    assert _kinds(apart) == ["nic-tx-timeout", "nic-reset"]


def test_queues_that_are_logged_one_by_one_are_one_event() -> None:
    (together,) = _episodes(_lines(*((1.0 + n, PAUSED.format(n, 6000000)) for n in range(8))))
    assert together.queues == list("01234567")


def test_a_reset_that_takes_its_time_belongs_to_its_timeout() -> None:
    late = (1.0, PAUSED.format(5, 6000000)), (9.0, ENA + "Trigger reset is on"), (18.0, COMPLETED)
    assert _kinds(_episodes(_lines(*late))) == ["nic-reset"]


def test_a_part_alone_is_nothing() -> None:
    assert (
        _episodes(_lines((1.0, ENA + "Freed 12 uncompleted tx skbs, qid 5, longest msecs since submission 5210"))) == []
    )


def test_a_hang_of_several_lines_split_by_a_text_log() -> None:
    hang = "ixgbe 0000:04:00.0 eth4: Detected Tx Unit Hang"
    reset = "ixgbe 0000:04:00.0 eth4: Reset adapter"
    (episode,) = _episodes(_lines((1.0, hang), (1.0, "  Tx Queue             <3>"), (1.3, reset)))
    assert (episode.kind.name, episode.queues, episode.fields["reason"]) == ("nic-reset", ["3"], "tx-hang")


# -- stacks --------------------------------------------------------------------------------------------


def test_a_soft_lockup_has_cpu_task_function_and_stack() -> None:
    first, second = _log("soft_lockup_5.15.kmsg")
    assert first.fields == {"cpu": "39", "task": "kubelet", "pid": "4711", "stall_us": "22000000"}
    assert first.stack.function == "mem_cgroup_iter"
    assert first.stack.frames == (
        "mem_cgroup_iter",
        "memcg_stat_show",
        "seq_read_iter",
        "nf_hook_entries",
        "vfs_read",
        "ksys_read",
        "do_syscall_64",
        "entry_SYSCALL_64_after_hwframe",
    )
    assert second.stack.frames == ("mem_cgroup_iter", "memcg_stat_show")
    assert first.last_usec == first.first_usec, "the dump takes time, the complaint has one"


def test_dumps_of_two_cpus_go_to_their_own_lockups() -> None:
    three, five = _log("soft_lockups_interleaved.kmsg")
    assert (three.fields["cpu"], three.stack.frames) == ("3", ("shrink_slab", "shrink_node"))
    assert (five.fields["cpu"], five.stack.frames) == ("5", ("smp_call_function_many_cond", "flush_tlb_mm_range"))


def test_a_stall_that_a_cpu_reports_about_itself() -> None:
    (stall,) = _log("rcu_self_5.4.kmsg")
    assert (stall.kind.name, stall.fields["cpu"], stall.fields["task"]) == ("rcu-stall", "39", "kubelet")
    assert stall.stack.frames == ("mem_cgroup_iter", "memcg_stat_show", "vfs_read")
    assert stall.fields["stall_jiffies"] == "15000"


def test_a_stall_reported_by_another_cpu_and_the_starved_thread() -> None:
    stall, starved = _log("rcu_other_6.1.kmsg")
    assert (stall.fields["cpu"], stall.fields["cpus"], stall.fields["reporter_cpu"]) == ("7", "7,9", "2")
    assert (stall.fields["task"], stall.fields["pid"]) == ("containerd", "812")
    assert stall.stack.frames == (
        "css_next_descendant_pre",
        "mem_cgroup_css_rstat_flush",
        "cgroup_rstat_flush_locked",
    )
    assert (starved.kind.name, starved.fields["cpu"]) == ("rcu-starved", "7")
    assert starved.stack.frames == ("css_rstat_updated",), "the sleeping thread's own stack says nothing"


def test_a_hard_lockup_takes_the_stack_of_the_stuck_cpu_only() -> None:
    (lockup,) = _log("hard_lockup_buddy_6.6.kmsg")
    assert (lockup.fields["cpu"], lockup.fields["task"]) == ("6", "bash")
    assert lockup.stack.frames == ("lkdtm_HARDLOCKUP", "lkdtm_do_action")


def test_a_hung_task_has_its_own_stack_and_the_owner_of_the_lock() -> None:
    (hung,) = _log("hung_task_6.17.kmsg")
    assert hung.stack.frames == ("__schedule", "schedule", "rwsem_down_write_slowpath")
    assert (hung.fields["task"], hung.fields["pid"], hung.fields["stall_us"]) == ("kworker/u8:2", "1428", "122000000")
    assert (hung.fields["lock"], hung.fields["owner"], hung.fields["owner_pid"]) == ("rw-semaphore", "cat", "77")


def test_a_hung_task_of_an_older_kernel() -> None:
    (hung,) = _log("hung_task_4.18.kmsg")
    assert hung.stack.frames == ("__schedule", "schedule", "xlog_wait_on_iclog")


def test_a_real_memcg_oom_names_victim_invoker_and_cgroups() -> None:
    (oom,) = _log("oom_memcg_6.18.kmsg")
    assert (oom.fields["task"], oom.fields["pid"], oom.fields["cpu"]) == ("python", "32668", "1")
    assert (oom.fields["oom_memcg"], oom.fields["task_memcg"]) == ("/necrotest-oom", "/necrotest-oom/work")
    assert (oom.fields["scope"], oom.fields["invoker"], oom.fields["invoker_pid"]) == ("memcg", "python", "32668")
    assert oom.stack.frames[2:5] == ("oom_kill_process.cold", "out_of_memory", "mem_cgroup_out_of_memory")
    assert "srso_alias_return_thunk" not in oom.stack.frames


def test_an_oom_of_an_older_kernel_is_one_event() -> None:
    lines = [
        (1.0, "java invoked oom-killer: gfp_mask=0xd0, order=0, oom_score_adj=0"),
        (1.1, "CPU: 12 PID: 99 Comm: java Not tainted 4.15.0"),
        (1.2, "Task in /kubepods/pod1/c6fd killed as a result of limit of /kubepods/pod1"),
        (9.0, "Memory cgroup out of memory: Kill process 215701 (worker) score 854 or sacrifice child"),
        (9.1, "Killed process 215701 (worker) total-vm:11017300kB, anon-rss:7152432kB, file-rss:1232kB"),
    ]
    (oom,) = _episodes(_lines(*lines))
    assert (oom.fields["task"], oom.fields["invoker"], oom.fields["cpu"]) == ("worker", "java", "12")
    assert (oom.fields["oom_memcg"], oom.fields["anon_rss_kb"]) == ("/kubepods/pod1", "7152432")
    assert oom.last_usec - oom.first_usec == 8_100_000


LOCKUP = "watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [stress:301]"


def test_a_dump_ends_after_two_seconds() -> None:
    (lockup,) = _episodes(_lines((1.0, LOCKUP), (1.1, " a+0x1/0x2"), (3.5, " b+0x1/0x2")))
    assert lockup.stack.frames == ("a",)


def test_a_dump_survives_two_lines_of_others_but_not_three() -> None:
    noise = [(1.2, "eth0: renamed from veth1"), (1.2, "audit: x")]
    frames = (1.1, " a+0x1/0x2"), (1.3, " b+0x1/0x2")
    (kept,) = _episodes(_lines((1.0, LOCKUP), frames[0], *noise, frames[1]))
    assert kept.stack.frames == ("a", "b")
    (cut,) = _episodes(_lines((1.0, LOCKUP), frames[0], *noise, (1.2, "audit: y"), frames[1]))
    assert cut.stack.frames == ("a",)


def test_lines_of_another_caller_are_not_ours() -> None:
    records = _lines((1.0, LOCKUP), (1.1, " a+0x1/0x2"), caller="C3")
    records += _lines((1.2, " foreign+0x1/0x2"), caller="T77") + _lines((1.3, " b+0x1/0x2"), caller="C3")
    (lockup,) = _episodes(records)
    assert lockup.stack.frames == ("a", "b")


# -- looks ---------------------------------------------------------------------------------------------


def test_an_episode_that_grows_after_a_look_comes_again_whole() -> None:
    joiner = Joiner(catalogue())
    joiner.feed(_lines((1.0, PAUSED.format(5, 6000000))))
    assert _kinds(joiner.take()) == ["nic-tx-timeout"]
    assert joiner.take() == []
    joiner.feed(_lines((1.2, COMPLETED)))
    (grown,) = joiner.take()
    assert (grown.kind.name, grown.queues, grown.first_usec) == ("nic-reset", ["5"], 1_000_000)


def test_settled_episodes_are_those_that_nothing_can_join() -> None:
    joiner = Joiner(catalogue())
    joiner.feed(_lines((1.0, LOCKUP), (100.0, LOCKUP)))
    assert [episode.first_usec for episode in joiner.settled()] == [1_000_000]
    assert [episode.first_usec for episode in joiner.take()] == [100_000_000]
