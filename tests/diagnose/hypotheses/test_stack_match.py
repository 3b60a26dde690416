"""Hypotheses against stacks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.diagnose.hypotheses import catalogue
from necroscope.diagnose.hypotheses.hypothesis import Hypothesis
from necroscope.diagnose.hypotheses.stack_match import Match, common_path, leaf_of, match, share_in, share_innermost
from necroscope.vocabulary.case import Stack
from stage.build_case import folded, stack
from stage.cases import any_value

KNOWN = catalogue()
SEE_THROUGH = frozenset({"_raw_spin_unlock_irqrestore", "cpumask_next", "find_next_bit"})


def _one(**fields: object) -> Hypothesis:
    return Hypothesis("m", "t", **fields)  # type: ignore[arg-type]


def _matches(one: Hypothesis, *texts: str) -> list[Match]:
    return match(folded(*texts), [one], SEE_THROUGH)


def test_shares_are_of_all_weight_and_small_ones_are_left_out() -> None:
    one = _one(functions=("walk",), least_share=0.5)
    half = (stack(("a", "walk"), 5.0), stack(("a", "b"), 5.0))
    (found,) = match(half, [one], SEE_THROUGH)
    assert (found.share, found.functions, found.places) == (0.5, ("walk",), frozenset({0}))
    assert match((*half, stack(("a", "b"), 0.1)), [one], SEE_THROUGH) == []


def test_code_of_the_program_itself_is_no_kernel_function() -> None:
    own = Stack((), "walk", False, 1.0)
    assert match([own], [_one(functions=("walk",), leaves=("walk",))], SEE_THROUGH) == []


def test_a_leaf_counts_where_the_core_was_only() -> None:
    one = _one(leaves=("spin",))
    assert _matches(one, "a;spin")
    assert _matches(one, "a;spin;deeper") == []


@pytest.mark.parametrize("last", ["_raw_spin_unlock_irqrestore", "cpumask_next;find_next_bit"])
def test_steps_of_loops_and_places_of_held_back_samples_are_no_leaf(last: str) -> None:
    one = _one(leaves=("count",))
    assert _matches(one, f"a;count;{last}")
    assert match(folded(f"a;count;{last}"), [one], frozenset()) == []
    assert leaf_of(folded(f"a;count;{last}")[0], SEE_THROUGH) == "count"


def test_of_nothing_but_such_places_the_innermost_is_the_leaf() -> None:
    assert leaf_of(folded("cpumask_next;find_next_bit")[0], SEE_THROUGH) == "find_next_bit"
    assert leaf_of(replace(stack(()), functions=()), SEE_THROUGH) == ""


def test_within_and_without() -> None:
    one = _one(functions=("walk",), within=("outer",), without=("but",))
    assert _matches(one, "outer;walk")
    assert _matches(one, "walk") == []
    assert _matches(one, "outer;walk;but") == []


def test_what_all_sorts_of_work_do_counts_in_company_only() -> None:
    one = _one(functions=("remove",), beside=("find",), least_own=0.25, without=("other",), least_share=0.1)
    (found,) = _matches(one, "a;remove", "a;find", "a;find", "a;other;find")
    assert (found.share, found.functions, found.places) == (0.75, ("find", "remove"), frozenset({0, 1, 2}))
    (alone,) = _matches(one, "a;remove", *["a;find"] * 4)
    assert (alone.share, alone.functions) == (0.2, ("remove",))
    assert _matches(one, *["a;find"] * 4) == []


def test_the_path_that_most_samples_share_ends_where_they_part() -> None:
    stacks = folded("in;call;read;show;print", "in;call;read;show;count", "in;call;read;show;print;pad", "in;call;read")
    assert common_path(stacks, 0.6) == ("read", "show")
    assert common_path(stacks, 0.5) == ("read", "show", "print")
    assert common_path(folded("in;call"), 0.5) == ()
    assert common_path((), 0.5) == ()


def test_wildcards() -> None:
    one = _one(functions=("proc_*_show", "next_?"))
    assert _matches(one, "a;proc_pid_show;b")
    assert _matches(one, "next_x")
    assert _matches(one, "next_xy") == []
    assert _matches(one, "xproc_pid_show") == []


def test_the_more_specific_comes_first() -> None:
    special = replace(_one(functions=("walk",), priority=9, least_share=0.2), id="special")
    common = replace(_one(functions=("outer",), priority=3), id="common")
    stacks = (stack(("outer", "walk"), 1.0), stack(("outer", "x"), 3.0))
    found = match(stacks, [common, special], SEE_THROUGH)
    assert [(one.hypothesis.id, one.places) for one in found] == [
        ("special", frozenset({0})),
        ("common", frozenset({0, 1})),
    ]


def test_functions_come_with_the_most_telling_first() -> None:
    one = _one(functions=("rare", "walk*"))
    (found,) = match([stack(("walk_a",), 3.0), stack(("rare",), 1.0), stack(("walk_b",), 2.0)], [one], SEE_THROUGH)
    assert found.functions == ("walk_a", "walk_b", "rare")


def test_hypotheses_without_functions_match_nothing() -> None:
    assert _matches(_one(nameless="kernel"), "a;b") == []


def test_nothing_is_not_divided_by() -> None:
    assert match([], KNOWN.mechanisms, KNOWN.see_through) == []
    assert match([stack(("mem_cgroup_iter",), 0.0)], KNOWN.mechanisms, KNOWN.see_through) == []
    assert share_in([], ("a",)) == share_innermost([], ("a",), frozenset()) == 0.0


def test_shares_in_functions() -> None:
    stacks = (stack(("a", "b"), 1.0), stack(("b",), 2.0), stack(("c",), 1.0))
    assert share_in(stacks, ("b",)) == 0.75
    assert share_in(stacks, ("a", "c*")) == 0.5
    assert share_in(stacks, ()) == 0.0


def test_what_is_explained_is_no_share_of_others() -> None:
    stacks = (stack(("fault", "walk"), 3.0), stack(("walk", "fault"), 1.0))
    assert share_innermost(stacks, ("fault",), frozenset()) == 1.0
    assert share_innermost(stacks, ("fault",), frozenset({"walk"})) == 0.25
    assert share_innermost(stacks, ("fault",), frozenset({"walk", "fault"})) == 0.0


@given(st.lists(any_value(Stack), max_size=8))
def test_no_stack_is_too_strange(stacks: list[Stack]) -> None:
    for found in match([replace(one, weight=abs(one.weight) % 1e9) for one in stacks], KNOWN.mechanisms, SEE_THROUGH):
        assert 0 < found.share <= 1.0000001
