"""Lines of stack dumps of several kernels and architectures, and the stack that they add up to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.sense.log.kernel_trace import STACK_LIMIT, Stack, TraceLine, read_line


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "CPU: 39 PID: 4711 Comm: kubelet Tainted: P           OE     5.15.0-1051-aws #56",
            TraceLine("cpu", cpu=39, pid=4711, task="kubelet"),
        ),
        (
            "CPU: 1 UID: 0 PID: 32668 Comm: python Not tainted 6.18.44 #1 PREEMPT(none) ",
            TraceLine("cpu", cpu=1, pid=32668, task="python"),
        ),
        (
            "CPU: 0 PID: 9 Comm: Web Content Kdump: loaded Not tainted 6.1.0",
            TraceLine("cpu", cpu=0, pid=9, task="Web Content"),
        ),
        ("WARNING: CPU: 3 PID: 0 at net/sched/sch_generic.c:323 dev_watchdog+0x1/0x2", TraceLine("cpu", cpu=3, pid=0)),
        ("NMI backtrace for cpu 7", TraceLine("cpu", cpu=7)),
        ("Task dump for CPU 3:", TraceLine("cpu", cpu=3)),
        (
            "task:kworker/u8:2    state:D stack:0     pid:1428  tgid:1428  ppid:2      flags:0x00080000",
            TraceLine("task", pid=1428, task="kworker/u8:2"),
        ),
        (
            "task:httpd           state:R  running task     stack:    0 pid: 2798 ppid:  2460 flags:0x0000400a",
            TraceLine("task", pid=2798, task="httpd"),
        ),
        ("xfsaild/sda4    D    0  1428      2 0x80004000", TraceLine("task", pid=1428, task="xfsaild/sda4")),
        (
            "runc            R  running task        0 183189 183175 0x00084080",
            TraceLine("task", pid=183189, task="runc"),
        ),
        ("RIP: 0010:mem_cgroup_iter+0x5a/0x1d0", TraceLine("function", "mem_cgroup_iter")),
        (
            "RIP: 0010:[<ffffffff81123456>]  [<ffffffff81123456>] shrink_slab+0x1/0x2",
            TraceLine("function", "shrink_slab"),
        ),
        ("pc : lkdtm_HARDLOCKUP+0x28/0x30", TraceLine("function", "lkdtm_HARDLOCKUP")),
        ("RIP: 0033:0x7efeb70d2b03", TraceLine("other")),
        (" nf_hook_slow+0x3d/0xb0 [nf_tables]", TraceLine("frame", "nf_hook_slow")),
        (" [<ffffffff810a8ac1>] ? vtime_account_user+0x91/0xa0", TraceLine("frame")),
        (" [<ffffffff817687b8>] page_fault+0x28/0x30", TraceLine("frame", "page_fault")),
        (" ? srso_alias_return_thunk+0x5/0xfbef5", TraceLine("frame")),
        (" oom_kill_process.cold+0x8/0x8a", TraceLine("frame", "oom_kill_process.cold")),
        (" smp_call_function_many_cond+0x1/0x2 (P)", TraceLine("frame", "smp_call_function_many_cond")),
        (" <TASK>", TraceLine("restart")),
        (" </IRQ>", TraceLine("restart")),
        (" <IRQ>", TraceLine("other")),
        ("Call Trace:", TraceLine("other")),
        ("Modules linked in: ena", TraceLine("other")),
        ("RAX: 0000000000000000 RBX: 0000000000000005", TraceLine("other")),
        ("R10: 00007efeb72f3a40 R11: 0000000000000001", TraceLine("other")),
        ("---[ end trace 4f2c6c0c3e0a5b1d ]---", TraceLine("end")),
        ("eth0: renamed from veth1234", None),
        ("systemd[1]: Started Session 4 of user root.", None),
        ("", None),
    ],
)
def test_a_line(line: str, expected: TraceLine | None) -> None:
    assert read_line(line) == expected


@given(st.text(max_size=200))
def test_arbitrary_lines_never_raise(line: str) -> None:
    read_line(line)


def _stack(*lines: str) -> Stack:
    stack = Stack()
    for line in lines:
        found = read_line(line)
        assert found is not None
        stack.add(found)
    return stack


def test_the_function_that_ran_is_the_innermost_frame() -> None:
    stack = _stack("RIP: 0010:a+0x1/0x2", " <TASK>", " b+0x1/0x2", " ? x+0x1/0x2", " c+0x1/0x2", "RIP: 0033:0x1234567")
    assert (stack.function, stack.frames) == ("a", ("a", "b", "c"))


def test_a_function_that_is_also_the_first_frame_is_there_once() -> None:
    assert _stack("pc : a+0x1/0x2", " a+0x1/0x2", " b+0x1/0x2").frames == ("a", "b")


def test_frames_of_the_dump_itself_are_left_out() -> None:
    stack = _stack(
        " dump_stack+0x1/0x2", " rcu_dump_cpu_stacks+0x1/0x2", " </IRQ>", "RIP: 0010:a+0x1/0x2", " b+0x1/0x2"
    )
    assert (stack.function, stack.frames) == ("a", ("a", "b"))


def test_an_interrupt_that_is_itself_the_culprit_is_kept() -> None:
    stack = _stack("RIP: 0010:poll+0x1/0x2", " net_rx_action+0x1/0x2", " </IRQ>", " <TASK>", " idle+0x1/0x2")
    assert stack.frames == ("poll", "net_rx_action", "idle")


def test_a_fault_in_the_middle_does_not_hide_what_ran() -> None:
    stack = _stack("RIP: 0010:a+0x1/0x2", " b+0x1/0x2", "RIP: 0010:copy_user+0x1/0x2", " c+0x1/0x2")
    assert (stack.function, stack.frames) == ("a", ("a", "b", "c"))


def test_a_stack_is_bounded() -> None:
    assert len(_stack(*[f" f{i}+0x1/0x2" for i in range(500)]).frames) == STACK_LIMIT
