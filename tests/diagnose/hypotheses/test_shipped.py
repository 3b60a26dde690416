"""The mechanisms that ship: each is found by its own stacks and numbers, and by none of its near misses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from necroscope.diagnose.hypotheses import catalogue
from necroscope.diagnose.hypotheses.fact_checks import judge_facts
from necroscope.diagnose.hypotheses.hypothesis import Hypothesis
from necroscope.diagnose.judge.mechanism import mechanism_of
from necroscope.diagnose.priors import PRIORS
from necroscope.vocabulary.model import Subject
from stage.build_case import folded, suspect
from stage.mechanism_pairs import PAIRS

KNOWN = catalogue()
WITHOUT_FUNCTIONS = {"user-hog", "unknown-mechanism"}


def _mechanism(name: str) -> Hypothesis:
    found = KNOWN.of(name)
    assert found is not None
    return found


def _found(stacks: Sequence[str], facts: dict[str, float]) -> str:
    """What is concluded of somebody whose time was all in these stacks."""
    found = mechanism_of(replace(suspect(), stacks=folded(*stacks)), facts, KNOWN, PRIORS)
    assert found is not None
    assert found.either is None
    return found.best.hypothesis.id


def test_there_are_many_mechanisms_and_each_has_its_pair() -> None:
    assert len(KNOWN.mechanisms) >= 50
    assert {one.id for one in KNOWN.mechanisms} - WITHOUT_FUNCTIONS == set(PAIRS)


@pytest.mark.parametrize("name", PAIRS)
def test_it_is_found_by_its_own_stacks(name: str) -> None:
    assert _found(PAIRS[name].fires, PAIRS[name].facts) == name


@pytest.mark.parametrize("name", PAIRS)
def test_it_is_not_found_by_the_near_miss(name: str) -> None:
    assert _found(PAIRS[name].near, PAIRS[name].near_facts) != name


_OLD_READ = "do_syscall_64;ksys_read;vfs_read;seq_read;cgroup_seqfile_show"


@pytest.mark.parametrize(
    "text",
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
def test_walks_over_zombies_on_kernels_old_and_new(text: str) -> None:
    assert _found((text,), {"zombies": 68_440}) == "zombie-memcg"
    assert _found((text,), {"zombies": 12}) != "zombie-memcg"


_RECLAIM = "try_charge_memcg;try_to_free_mem_cgroup_pages;do_try_to_free_pages;shrink_node;shrink_lruvec"


def test_reclaim_of_a_tight_limit_is_no_walk_though_there_are_zombies_elsewhere() -> None:
    pages = (f"{_RECLAIM};shrink_folio_list",) * 5 + (f"{_RECLAIM};isolate_lru_folios",) * 2
    some = (_RECLAIM, f"{_RECLAIM};shrink_active_list", "try_charge_memcg;try_to_free_mem_cgroup_pages;mem_cgroup_iter")
    assert _found(pages + some, {"zombies": 9_000}) == "memcg-reclaim"


def test_steps_of_a_walk_are_few_where_reclaim_looks_at_pages() -> None:
    walks = (_RECLAIM,) * 95 + (f"{_RECLAIM};mem_cgroup_iter",) * 5
    assert _found(walks, {"zombies": 9_000, "memcg_steps": 0.05}) == "memcg-reclaim"
    assert _found(walks, {"zombies": 9_000, "memcg_steps": 0.3}) == "zombie-memcg"


def test_a_reader_of_statistics_on_a_new_kernel_walks_directories_not_zombies() -> None:
    read = "ksys_read;vfs_read;kernfs_seq_show;cgroup_seqfile_show;memory_stat_show;memcg1_stat_format;vsnprintf"
    assert _found((read,), {"zombies": 9_000, "directories": 3_000}) == "cgroup-directories"


@pytest.mark.parametrize("one", KNOWN.mechanisms, ids=lambda one: one.id)
def test_every_mechanism_says_what_it_is_and_what_helps(one: Hypothesis) -> None:
    assert one.references
    assert one.grows or one.remedies_for(Subject("unit", "x.service"), "6.18.0")
    assert bool(one.functions or one.leaves) == (one.id not in WITHOUT_FUNCTIONS)
    assert bool(one.nameless) == (one.id in WITHOUT_FUNCTIONS)
    assert not one.title.endswith(".")
    assert one.expensive.endswith(".")
    for check in (*one.confirm, *one.refute):
        assert check.says(1.0)


@pytest.mark.parametrize("one", KNOWN.rivals, ids=lambda one: one.id)
def test_every_rival_says_what_it_is_and_is_a_part_of_causes_that_exist(one: Hypothesis) -> None:
    assert not one.title.endswith(".")
    assert set(one.same) <= {each.id for each in KNOWN.mechanisms}
    assert bool(one.advice) == one.cause


def test_the_standing_list_of_rivals() -> None:
    assert [one.id for one in KNOWN.rivals] == [
        "page-faults",
        "huge-pages",
        "allocator",
        "reclaim",
        "cpu-affinity",
        "interrupt-affinity",
        "nic-or-hardware",
        "steal",
        "cpu-quota",
        "core-frequency",
        "smt-sibling",
    ]
    assert {one.id for one in KNOWN.rivals if one.cause} == {"steal", "cpu-quota", "core-frequency"}


def test_no_id_is_both_a_mechanism_and_a_rival() -> None:
    assert not {one.id for one in KNOWN.mechanisms} & {one.id for one in KNOWN.rivals}
    assert len(KNOWN.titles) == len(KNOWN.mechanisms) + len(KNOWN.rivals)


def test_what_is_shown_as_a_sentence_begins_as_one() -> None:
    for one in (*KNOWN.mechanisms, *KNOWN.rivals):
        for advice in one.advice:
            assert advice.remedy.text[0].isupper(), f"{one.id}: {advice.remedy.text}"


# -- numbers that a healthy node has -------------------------------------------------------------------------


def _healthy(cores: int) -> dict[str, float]:
    """What an idle node shows: rates of a second now, and the same in quiet times."""
    rates = {
        "vmstat_pgfault": 900.0 * cores,
        "vmstat_pgscan_direct": 0.0,
        "vmstat_pgscan_kswapd": 1_500.0,
        "vmstat_workingset_refault_file": 1_200.0,
        "vmstat_slabs_scanned": 2_000.0,
        "vmstat_thp_fault_alloc": 12.0,
        "vmstat_thp_collapse_alloc": 1.0,
        "vmstat_thp_split_page": 10.0,
        "vmstat_compact_migrate_scanned": 1_200.0,
        "vmstat_compact_stall": 0.0,
        "vmstat_numa_pages_migrated": 1_000.0 if cores > 32 else 0.0,
        "vmstat_drop_slab": 0.0,
        "vmstat_pswpin": 0.0,
        "vmstat_pswpout": 0.0,
        "vmstat_allocstall": 0.0,
        "cpu_forks": 25.0,
        "execs": 25.0,
        "cpu_context_switches": 2_000.0 * cores,
        "softnet_processed_packets": 5_000.0,
        "softnet_squeezed_rounds": 0.0,
        "throttle_throttled_seconds": 0.2,
        "pressure_memory": 0.0,
        "pressure_io": 0.1,
        "oom_kills": 0.0,
    }
    stood = {"zombies": 40.0 + cores, "tracked": 120.0 + 20 * cores, "live": 90.0, "directories": 60.0}
    own = {"kernel_share": 0.9, "pids": 6.0, "suspect_starts": 0.2, "core_user": 0.6, "core_softirq": 0.02}
    more = {"cores": float(cores), "core_irq": 0.01, "core_system": 0.3}
    before = {f"{name}_before": value for name, value in rates.items()}
    return rates | before | {f"{name}_lift": 1.0 for name in rates} | stood | own | more


@pytest.mark.parametrize("cores", [4, 16, 96])
@pytest.mark.parametrize("one", KNOWN.mechanisms, ids=lambda one: one.id)
def test_nothing_is_confirmed_by_the_numbers_of_a_healthy_node(one: Hypothesis, cores: int) -> None:
    assert [check.fact for check, _ in judge_facts(one, _healthy(cores)).confirmed] == []


def test_the_healthy_node_has_a_number_for_nearly_every_check() -> None:
    asked = {check.fact for one in KNOWN.mechanisms for check in one.confirm}
    assert asked - set(_healthy(4)) <= {"vmstat_drop_pagecache"}


# -- what single numbers say ---------------------------------------------------------------------------------


def test_reclaim_within_a_cgroup_is_confirmed_by_pages_that_come_back() -> None:
    facts = {"vmstat_pgscan_direct": 0.0, "vmstat_workingset_refault_file": 150_000.0}
    judged = judge_facts(_mechanism("memcg-reclaim"), facts)
    assert [check.fact for check, _ in judged.confirmed] == ["vmstat_workingset_refault_file"]


@pytest.mark.parametrize("name", ["dentry-walk", "mapping-churn", "address-space-teardown"])
def test_starts_of_others_refute_nothing(name: str) -> None:
    one = _mechanism(name)
    assert judge_facts(one, {"execs": 900.0, "suspect_starts": 0.2}).refuted == ()
    judged = judge_facts(one, {"execs": 1.0, "suspect_starts": 9.0})
    assert [check.fact for check, _ in judged.refuted] == ["suspect_starts"]


def test_copies_of_a_large_process_are_no_storm_however_many_there_are() -> None:
    one = _mechanism("fork-copy")
    assert judge_facts(one, {"suspect_starts": 21.8, "seconds_per_start": 0.042}).refuted == ()
    assert [check.fact for check, _ in judge_facts(one, {"seconds_per_start": 0.003}).refuted] == ["seconds_per_start"]


@pytest.mark.parametrize(("kernel", "advised"), [("5.4.0-1040-aws", True), ("5.15.0-91-generic", False), ("", True)])
def test_no_advice_that_the_running_kernel_has_outgrown(kernel: str, advised: bool) -> None:
    given = [one.action for one in _mechanism("zombie-memcg").remedies_for(None, kernel)]
    assert ("newer-kernel" in given) is advised
    assert "cgroup-v2" in given
