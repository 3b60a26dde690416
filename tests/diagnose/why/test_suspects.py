"""Who was on a core, against what is normal there."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.diagnose.why.suspects import LineUp, context_of, frames_of, line_up, top_functions
from necroscope.query.profile import profile
from necroscope.query.select import Select
from stage.incident import NET_RX, SEND, SMAPS, USER, WALK, Played, at
from stage.looked import text


def _lineup(node: Played, folder: Path, begin: int, end: int, cpu: int, quiet: int = 6) -> LineUp:
    store = node.write(folder)
    blocks = [(at(5 * n), at(5 * n + 5) - 1) for n in range(quiet)]
    made = profile(store, Select((at(begin), at(end) - 1), cpus=frozenset({cpu})), blocks)
    return line_up(made, end - begin)


def test_the_new_one_is_first_and_the_steady_one_is_not_unusual(tmp_path: Path) -> None:
    node = Played(2, 60)
    node.usual()
    node.does(1, 40, 46, 0.75, "walker", 9, frames=WALK, mode="system", cgroup="/w")
    found = _lineup(node, tmp_path, 40, 46, 1)
    first, steady = found.suspects[0], next(one for one in found.suspects if one.name == "steady")
    assert (first.name, first.cgroup, first.pid, first.context) == ("walker", "/w", 9, "")
    assert first.share == pytest.approx(0.75, abs=0.02)
    assert (first.before, first.kernel) == (0.0, 1.0)
    assert first.unusual
    assert first.chance < 1e-20
    assert steady.share == pytest.approx(0.2, abs=0.02)
    assert steady.before == pytest.approx(0.2, abs=0.02)
    assert not steady.unusual
    assert top_functions(first)[0] == ("mem_cgroup_iter", pytest.approx(1.0))
    assert found.sampled == pytest.approx(1.0, abs=0.03)


def test_interrupts_are_nobodys(tmp_path: Path) -> None:
    node = Played(1, 60)
    node.usual()
    node.does(0, 40, 45, 0.7, "innocent", 9, frames=NET_RX, mode="softirq", cgroup="/i")
    found = _lineup(node, tmp_path, 40, 45, 0)
    assert (found.suspects[0].context, found.suspects[0].name, found.suspects[0].pids) == ("softirq", "", ())
    assert all(one.name != "innocent" for one in found.suspects)
    assert found.suspects[0].title == "soft interrupts"


def test_many_of_one_name_have_no_single_pid(tmp_path: Path) -> None:
    node = Played(1, 60)
    for number in range(30):
        node.does(0, 40, 45, 0.03, "true", 1000 + number, cgroup="/storm")
    found = _lineup(node, tmp_path, 40, 45, 0)
    assert (found.suspects[0].name, found.suspects[0].pid, len(found.suspects[0].pids)) == ("true", None, 30)
    assert found.by_cgroup[0].cgroup == "/storm"


def test_without_quiet_times_nothing_is_compared(tmp_path: Path) -> None:
    node = Played(1, 20)
    node.usual()
    found = _lineup(node, tmp_path, 5, 10, 0, quiet=0)
    assert found.suspects[0].before is None
    assert found.blocks == 0
    assert found.suspects[0].unusual


@pytest.mark.parametrize(
    ("frames", "context"),
    [
        (USER, ""),
        (SMAPS, ""),
        (NET_RX, "softirq"),
        # What a system call runs at its own end is the caller's.
        ((*SEND, ("__local_bh_enable_ip", "[kernel]"), ("do_softirq", "[kernel]"), ("net_rx_action", "[kernel]")), ""),
        ((("ret_from_fork", "[kernel]"), ("run_ksoftirqd", "[kernel]"), ("handle_softirqs", "[kernel]")), "softirq"),
        ((*USER, ("asm_sysvec_call_function", "[kernel]"), ("flush_tlb_func", "[kernel]")), "irq"),
        ((*USER, ("call_function_interrupt", "[kernel]"), ("smp_call_function_interrupt", "[kernel]")), "irq"),
        # Who sends the interrupts to other cores waits in a system call of its own.
        ((*SEND, ("flush_tlb_mm_range", "[kernel]"), ("smp_call_function_many_cond", "[kernel]")), ""),
        ((*SEND, ("smp_call_function_single", "[kernel]")), ""),
    ],
)
def test_contexts(frames: tuple[tuple[str, str], ...], context: str) -> None:
    assert context_of(text(frames)) == context
    assert frames_of(text(frames)) == [name for name, _ in frames]
