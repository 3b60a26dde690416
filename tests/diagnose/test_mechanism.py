"""Mechanisms against stacks and facts: each fires on its own, and none on its near miss."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.diagnose.mechanism import Advice, Check, Mechanism, judge, match
from necroscope.diagnose.mechanisms import mechanisms
from necroscope.model import Subject
from necroscope.verdict import Remedy
from stage.mechanism_pairs import PAIRS

KNOWN = mechanisms(())
WITHOUT_FUNCTIONS = {"user-hog", "unknown-mechanism"}


def _stack(folded: str, module: str = "[kernel]") -> str:
    return "".join(f"{name}\x1f{module}\x1e" for name in folded.split(";"))


def _told(stacks: tuple[str, ...], facts: dict[str, float]) -> str | None:
    """The mechanism that stands: the best match that no fact refutes."""
    found = match([(_stack(one), 1.0) for one in stacks], KNOWN)
    return next((one.mechanism.id for one in found if not judge(one.mechanism, facts).refuted), None)


def test_there_are_many_mechanisms_and_each_has_its_pair() -> None:
    assert len(KNOWN) >= 25
    assert {one.id for one in KNOWN} - WITHOUT_FUNCTIONS == set(PAIRS)


@pytest.mark.parametrize("name", PAIRS)
def test_it_fires_on_its_own_stacks(name: str) -> None:
    assert _told(PAIRS[name].fires, PAIRS[name].facts) == name


@pytest.mark.parametrize("name", PAIRS)
def test_it_does_not_fire_on_the_near_miss(name: str) -> None:
    assert _told(PAIRS[name].near, PAIRS[name].near_facts) != name


_OLD_READ = "do_syscall_64;ksys_read;vfs_read;seq_read;cgroup_seqfile_show"


@pytest.mark.parametrize(
    "folded",
    [
        # 4.15 to 5.7: each read of statistics walks, under kernels' several names for it
        f"{_OLD_READ};memcg_stat_show;mem_cgroup_iter;css_next_descendant_pre",
        f"{_OLD_READ};mem_cgroup_seqfile_show;memcg_numa_stat_show;mem_cgroup_node_nr_lru_pages",
        # 5.4 with 64 possible CPUs: most of its samples end in the loop over these
        f"{_OLD_READ};mem_cgroup_seqfile_show;memcg_numa_stat_show;cpumask_next;find_next_bit",
        f"{_OLD_READ};memcg_numa_stat_show;mem_cgroup_node_nr_lru_pages;cpumask_next;_find_next_bit.constprop.0",
        "do_syscall_64;ksys_read;mem_cgroup_read_u64;mem_cgroup_usage;mem_cgroup_iter",
        # 4.19 and 5.4 reclaim, 6.x out-of-memory and a write to memory.force_empty
        "handle_mm_fault;mem_cgroup_try_charge;try_charge;try_to_free_mem_cgroup_pages;shrink_node;shrink_node_memcg",
        "handle_mm_fault;try_charge_memcg;mem_cgroup_out_of_memory;mem_cgroup_scan_tasks;mem_cgroup_iter",
        "ksys_write;mem_cgroup_force_empty_write;try_to_free_mem_cgroup_pages;shrink_node;shrink_node_memcgs",
        "kswapd;balance_pgdat;shrink_node;mem_cgroup_iter",
    ],
)
def test_walks_over_zombies_on_kernels_old_and_new(folded: str) -> None:
    assert _told((folded,), {"zombies": 68_440}) == "zombie-memcg"
    assert _told((folded,), {"zombies": 12}) != "zombie-memcg"


def test_reclaim_of_a_tight_limit_is_no_walk_though_there_are_zombies_elsewhere() -> None:
    reclaim = "try_charge_memcg;try_to_free_mem_cgroup_pages;do_try_to_free_pages;shrink_node;shrink_lruvec"
    pages = (f"{reclaim};shrink_folio_list",) * 5 + (f"{reclaim};isolate_lru_folios",) * 2
    some = (reclaim, f"{reclaim};shrink_active_list", "try_charge_memcg;try_to_free_mem_cgroup_pages;mem_cgroup_iter")
    assert _told(pages + some, {"zombies": 9_000}) == "memcg-reclaim"


def test_a_reader_of_statistics_on_a_new_kernel_walks_directories_not_zombies() -> None:
    read = "ksys_read;vfs_read;kernfs_seq_show;cgroup_seqfile_show;memory_stat_show;memcg1_stat_format;vsnprintf"
    assert _told((read,), {"zombies": 9_000, "directories": 3_000}) == "cgroup-directories"


@pytest.mark.parametrize("one", KNOWN, ids=lambda one: one.id)
def test_every_mechanism_says_what_it_is_and_what_helps(one: Mechanism) -> None:
    assert one.references
    assert one.remedies_for(Subject("unit", "x.service"))
    assert bool(one.functions or one.leaves) == (one.id not in WITHOUT_FUNCTIONS)
    assert not one.title.endswith(".")
    assert one.expensive.endswith(".")
    for check in (*one.confirm, *one.refute):
        assert check.says(1.0)


# -- matching ---------------------------------------------------------------------------------------------------


def _simple(**fields: object) -> Mechanism:
    return Mechanism("m", "t", "e.", ("r",), **fields)  # type: ignore[arg-type]


def test_shares_are_of_all_weight_and_small_ones_are_left_out() -> None:
    one = _simple(functions=("walk",), least_share=0.5)
    half = [(_stack("a;walk"), 5.0), (_stack("a;b"), 5.0)]
    (found,) = match(half, [one])
    assert (found.share, found.functions) == (0.5, ("walk",))
    assert match([*half, (_stack("a;b"), 0.1)], [one]) == []


def test_a_function_of_user_code_with_the_same_name_does_not_count() -> None:
    one = _simple(functions=("walk",))
    assert match([(_stack("main;walk", "/usr/bin/x"), 1.0)], [one]) == []
    assert match([(_stack("main;walk", "[some_module]"), 1.0)], [one])
    assert match([(_stack("main;walk", ""), 1.0)], [one])


def test_suffixes_of_compilers_do_not_matter() -> None:
    one = _simple(functions=("walk",), leaves=("spin",))
    for name in ("walk.isra.0", "walk.constprop.0.cold", "walk", "x;spin.part.0"):
        assert match([(_stack(name), 1.0)], [one]), name


def test_a_leaf_counts_where_the_core_was_only() -> None:
    one = _simple(leaves=("spin",))
    assert match([(_stack("a;spin"), 1.0)], [one])
    assert match([(_stack("a;spin;deeper"), 1.0)], [one]) == []


def test_interrupts_that_come_on_again_point_to_the_caller() -> None:
    one = _simple(leaves=("count",))
    assert match([(_stack("a;count;_raw_spin_unlock_irqrestore"), 1.0)], [one])


def test_within_and_without() -> None:
    one = _simple(functions=("walk",), within=("outer",), without=("but",))
    assert match([(_stack("outer;walk"), 1.0)], [one])
    assert match([(_stack("walk"), 1.0)], [one]) == []
    assert match([(_stack("outer;walk;but"), 1.0)], [one]) == []


def test_the_more_specific_comes_first() -> None:
    special = Mechanism("s", "t", "e.", ("r",), functions=("walk",), priority=9, least_share=0.2)
    common = Mechanism("c", "t", "e.", ("r",), functions=("outer",), priority=3)
    stacks = [(_stack("outer;walk"), 1.0), (_stack("outer;x"), 3.0)]
    assert [one.mechanism.id for one in match(stacks, [common, special])] == ["s", "c"]


def test_functions_come_with_the_most_telling_first() -> None:
    one = _simple(functions=("rare", "walk*"))
    found = match([(_stack("walk_a"), 3.0), (_stack("rare"), 1.0), (_stack("walk_b"), 2.0)], [one])
    assert found[0].functions == ("walk_a", "walk_b", "rare")


def test_nothing_is_not_divided_by() -> None:
    assert match([], KNOWN) == []
    assert match([("", 3.0), ("a\x1f[kernel]\x1e", 0.0)], KNOWN) == []


@given(st.lists(st.tuples(st.text(max_size=80), st.floats(0, 1e9)), max_size=8))
def test_no_stack_is_too_strange(stacks: list[tuple[str, float]]) -> None:
    for found in match(stacks, KNOWN):
        assert 0 < found.share <= 1.0000001


# -- judging --------------------------------------------------------------------------------------------------------


def test_facts_confirm_refute_or_are_unknown() -> None:
    many = Check("zombies", "{value} of at least {limit}", at_least=1000)
    few = Check("zombies", "only {value}", at_most=300)
    other = Check("execs", "x", at_least=1)
    one = _simple(confirm=(many, other), refute=(few,))
    assert judge(one, {"zombies": 1000}).confirmed == ((many, 1000),)
    assert judge(one, {"zombies": 1000}).unknown == (other,)
    assert judge(one, {"zombies": 300}).refuted == ((few, 300),)
    between = judge(one, {"zombies": 500, "execs": 0})
    assert (between.confirmed, between.refuted, between.unknown) == ((), (), ())
    assert many.says(68_440) == "68,440 of at least 1,000"
    assert Check("x", "{value} {percent} {other}", at_least=0).says(0.931) == "0.93 93 % {other}"


# -- remedies ---------------------------------------------------------------------------------------------------------


def test_a_command_names_the_subject_safely_and_only_where_it_suits() -> None:
    stop = Remedy("stop", command="systemctl stop -- {subject}", text="t", risk="r", cost="c")
    one = _simple(advice=(Advice(stop, ("unit",)), Advice(Remedy("wait", text="t"))))
    unit, anybody = one.remedies_for(Subject("unit", "a b;rm.service"))
    assert (unit.subject, unit.command) == ("a b;rm.service", "systemctl stop -- 'a b;rm.service'")
    assert (anybody.action, anybody.subject) == ("wait", "")
    assert [remedy.action for remedy in one.remedies_for(Subject("container", "x"))] == ["wait"]
    assert [remedy.action for remedy in one.remedies] == ["wait"]


def test_reclaim_within_a_cgroup_is_confirmed_by_pages_that_come_back() -> None:
    (one,) = (one for one in mechanisms(()) if one.id == "memcg-reclaim")
    judged = judge(one, {"vmstat_pgscan_direct": 0.0, "vmstat_workingset_refault_file": 150_000.0})
    assert [check.fact for check, _ in judged.confirmed] == ["vmstat_workingset_refault_file"]


@pytest.mark.parametrize("name", ["dentry-walk", "mapping-churn", "address-space-teardown"])
def test_starts_of_others_refute_nothing(name: str) -> None:
    (one,) = (one for one in mechanisms(()) if one.id == name)
    assert judge(one, {"execs": 900.0, "suspect_starts": 0.2}).refuted == ()
    assert [check.fact for check, _ in judge(one, {"execs": 1.0, "suspect_starts": 9.0}).refuted] == ["suspect_starts"]


def test_copies_of_a_large_process_are_no_storm_however_many_there_are() -> None:
    (one,) = (one for one in mechanisms(()) if one.id == "fork-copy")
    assert judge(one, {"suspect_starts": 21.8, "seconds_per_start": 0.042}).refuted == ()
    assert [check.fact for check, _ in judge(one, {"seconds_per_start": 0.003}).refuted] == ["seconds_per_start"]
