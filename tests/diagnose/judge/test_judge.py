"""From a case to a verdict: its links, its subject, and what is told where nobody is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from necroscope.diagnose.hypotheses import catalogue
from necroscope.diagnose.judge import judge
from necroscope.diagnose.priors import PRIORS
from necroscope.vocabulary.case import Blind, Caller, Case, Gap, HardwareEvent, NamedCore
from necroscope.vocabulary.leak_facts import LeakContainer, LeakFacts, LeakUnit
from necroscope.vocabulary.model import Subject
from necroscope.vocabulary.verdict import Link, ProcessRef, Verdict
from stage.build_case import (
    EXEC,
    LEAKER,
    NET_RX,
    ODD,
    SEND,
    SLABINFO,
    SMAPS,
    USER,
    WALK,
    again,
    case,
    leaks,
    starvation,
    suspect,
    symptom,
    window,
    zombie_walk,
)

KNOWN = catalogue()
READER = starvation(suspect())
CONTAINER = "3f5c90aa27d1" + "0b4e" * 13


def _judged(made: Case) -> Verdict:
    return judge(made, KNOWN)


def _links(verdict: Verdict) -> dict[str, Link]:
    return {one.kind: one for one in verdict.links}


def _said(verdict: Verdict) -> dict[str, str]:
    return {one.kind: " | ".join([one.claim, *(each.text for each in one.evidence)]) for one in verdict.links}


def _outcomes(verdict: Verdict) -> dict[str, str]:
    return {one.hypothesis: one.outcome for one in verdict.tested}


def _cause(verdict: Verdict) -> tuple[str, Subject | None]:
    assert verdict.cause is not None
    return verdict.cause.kind, verdict.cause.subject


def _missing(verdict: Verdict) -> list[str]:
    return [one.what for one in verdict.missing]


# -- links ---------------------------------------------------------------------------------------------------


def test_the_leaker_is_blamed_and_not_the_walker() -> None:
    verdict = _judged(case(zombie_walk(), leaks=leaks(), kernel="5.15.0-91-generic"))
    assert verdict.verdict == "explained"
    assert verdict.cause is not None
    assert (verdict.cause.kind, verdict.cause.cpu) == ("zombie-memcg", 2)
    assert verdict.cause.subject == Subject("unit", LEAKER)
    assert verdict.cause.process == ProcessRef("quiet-harbor", 900)
    assert verdict.cause.confidence >= 0.9
    links = _said(verdict)
    assert list(links) == [
        "symptom",
        "starved-core",
        "blocked",
        "on-core",
        "mechanism",
        "accumulation",
        "leak-source",
        "why-it-runs",
    ]
    assert "core 2 was starved for 7.0 s, until 2.0 s before the symptom" in links["starved-core"]
    assert "all 4 cores together were 10 % busy" in links["starved-core"]
    assert "victim (pid 501) waited 5.5 s for a core" in links["blocked"]
    assert "quiet-harbor (pid 900) took 100 % of core 2" in links["on-core"]
    assert "in 6 quiet windows it took 0 %; p < 0.001" in links["on-core"]
    assert "most of it in mem_cgroup_iter 100 %" in links["on-core"]
    assert "its cgroup is /pods/job" in links["on-core"]
    assert "20,000 zombie memory cgroups" in links["mechanism"]
    assert "20,000 zombies, 100 live" in links["accumulation"]
    assert f"unit {LEAKER} leaks them" in links["leak-source"]
    assert "is enabled and restarts always" in links["why-it-runs"]
    assert verdict.growth is not None
    assert verdict.growth.restarts_of == LEAKER
    assert verdict.window == zombie_walk().run.window


def test_remedies_stop_the_leaker_first_and_free_what_exists_then() -> None:
    verdict = _judged(case(zombie_walk(), leaks=leaks(), kernel="5.15.0-91-generic"))
    actions = [one.action for one in verdict.remedies]
    assert actions[0] == "disable-unit"
    assert verdict.remedies[0].subject == LEAKER
    assert "newer-kernel" not in actions
    older = _judged(case(zombie_walk(), leaks=leaks(), kernel="5.4.0-1040-aws"))
    assert "newer-kernel" in [one.action for one in older.remedies]


def test_every_standing_rival_is_told_with_what_the_test_said() -> None:
    verdict = _judged(case(zombie_walk(), leaks=leaks()))
    found = {one.hypothesis: one for one in verdict.tested}
    assert {one.id for one in KNOWN.rivals} <= set(found)
    assert all(one.because for one in found.values())
    assert found["steal"].because == "the hypervisor took 0 % of the core"
    assert found["core-frequency"].outcome == "untested"


def test_names_decide_nothing() -> None:
    one = zombie_walk()
    walker = replace(one.line_up.suspects[0], name="zz-9", cgroup="/x/y", pids=(5,))
    changed = replace(one, line_up=replace(one.line_up, suspects=(walker,), by_cgroup=()))
    verdict = _judged(case(changed, leaks=leaks("acme.service")))
    assert verdict.cause is not None
    assert verdict.cause.process == ProcessRef("zz-9", 5)
    assert verdict.cause.subject == Subject("unit", "acme.service")
    before = _judged(case(one, leaks=leaks()))
    assert before.cause is not None
    assert verdict.cause.confidence == before.cause.confidence


def test_a_core_without_anybody_seen_to_wait_has_no_such_link() -> None:
    assert "blocked" not in _links(_judged(case(READER)))
    idle = starvation(suspect(), cpu_run_delay_seconds_core=0.0, softnet_squeezed_rounds_core=0.0)
    assert "blocked" not in _links(_judged(case(idle)))
    delayed = starvation(suspect(), cpu_run_delay_seconds_core=0.4, softnet_squeezed_rounds_core=30.0)
    link = _links(_judged(case(delayed)))["blocked"]
    assert link.claim == "tasks waited for it"
    assert [one.text for one in link.evidence] == [
        "tasks waited 0.40 s a second for core 1",
        "30 polling rounds a second on it ended with packets left",
    ]


def test_the_suspects_own_waiting_is_no_victims() -> None:
    one = starvation(suspect("reader"), waits={"reader": 6.0})
    assert "blocked" not in _links(_judged(case(one)))


def test_few_samples_on_a_busy_core_mean_interrupts_off_unless_some_were_lost() -> None:
    one = starvation(suspect(share=0.1), sampled=0.1)
    verdict = _judged(case(one))
    assert _cause(verdict)[0] == "smaps-walk"
    assert verdict.cause is not None
    assert verdict.cause.confidence < 0.8
    assert "10 % of the time could be sampled: interrupts were off" in _said(verdict)["on-core"]
    assert _links(verdict)["on-core"].doubt == "only 10 % of the time could be sampled"
    lost = _judged(case(one, lost_ns=(one.run.to_ns,)))
    assert "the recorder lost some" in _said(lost)["on-core"]


# -- whom to act on ------------------------------------------------------------------------------------------


def test_a_reader_of_smaps_in_a_unit_is_the_units() -> None:
    path = "/system.slice/tall-elm.service"
    facts = LeakFacts(units=(LeakUnit("tall-elm.service", path),), systemd=True)
    one = starvation(suspect(cgroup=path))
    assert _cause(_judged(case(one, leaks=facts))) == ("smaps-walk", Subject("unit", "tall-elm.service"))


def test_a_unit_that_only_a_path_names_is_named_with_a_doubt_and_no_command() -> None:
    one = starvation(suspect(shapes=EXEC, cgroup="/system.slice/tall-elm.service", processes=90), execs=300.0)
    facts = LeakFacts(systemd=True)
    verdict = _judged(case(one, leaks=facts))
    assert _cause(verdict) == ("exec-storm", Subject("unit", "tall-elm.service"))
    assert "systemd knows no unit" in _links(verdict)["subject"].doubt
    assert any(one.startswith("whether unit tall-elm.service is what it is called") for one in _missing(verdict))
    assert not [one.command for one in verdict.remedies if one.command.startswith("necroscope fix")]


def test_what_runs_in_a_container_is_the_containers_by_any_of_its_cgroups() -> None:
    facts = LeakFacts(containers=(LeakContainer("acme-web", (CONTAINER,)),), engines=True)
    path = f"/docker/{CONTAINER}"
    for who in (suspect(cgroup=path), replace(suspect(cgroup="/"), cgroups=(path,))):
        assert _cause(_judged(case(starvation(who), leaks=facts))) == ("smaps-walk", Subject("container", "acme-web"))


def test_a_process_without_a_unit_is_named_itself_and_a_thread_of_the_kernel_is_the_kernels() -> None:
    assert _cause(_judged(case(READER))) == ("smaps-walk", Subject("process", "reader"))
    flusher = starvation(suspect("kworker/u8:2-flush", ("wb_workfn", "wb_writeback"), cgroup="/"), pressure_io=0.5)
    assert _cause(_judged(case(flusher))) == ("writeback", Subject("kernel", "kworker/u8:2-flush"))


def test_a_flood_of_packets_is_its_senders_where_one_stands_out() -> None:
    rx = suspect(shapes=NET_RX, context="softirq")
    sender = Caller("shouter", "/loud", SEND[1:3], 4.5, 0.0, (78,))
    numbers = {"core_softirq_before": 0.01, "nic_rx_packets": 1.0, "softnet_processed_packets_core": 9e4}
    verdict = _judged(case(starvation(rx, callers=[sender], **numbers)))
    assert _cause(verdict) == ("softirq-flood", Subject("process", "shouter"))
    assert "shouter ordered it: 100 % of the calls" in _links(verdict)["ordered-by"].claim
    assert verdict.cause is not None
    assert verdict.cause.process is None
    outside = _judged(case(starvation(rx, callers=[sender], **{**numbers, "nic_rx_packets": 8e4})))
    assert outside.verdict == "partly-explained"
    assert _cause(outside) == ("softirq-flood", None)
    assert "who caused the interrupts: nobody on this node stands out as their source" in _missing(outside)


def test_soft_interrupts_that_a_thread_worked_off_are_that_threads() -> None:
    rx = replace(suspect(shapes=NET_RX, context="softirq"), pids=(15,))
    verdict = _judged(case(starvation(rx, core_softirq_before=0.01)))
    assert verdict.cause is not None
    assert verdict.cause.process == ProcessRef("ksoftirqd/1", 15)


def test_a_storm_is_its_starters_else_that_of_the_unit_that_holds_them_all() -> None:
    storm = suspect("true", {EXEC: 0.6, USER: 0.4}, processes=240, cgroup="/jobs")
    one = starvation(storm, execs=300.0, execs_before=2.0)
    assert _cause(_judged(case(one))) == ("exec-storm", None)
    starter = Caller("forker", "/jobs", ("kernel_clone",), 0.5, 0.0, (9,))
    by = starvation(storm, execs=300.0, execs_before=2.0, callers=[starter])
    assert _cause(_judged(case(by))) == ("exec-storm", Subject("process", "forker"))
    unit = LeakFacts(units=(LeakUnit("jobs.service", "/jobs"),), systemd=True)
    assert _cause(_judged(case(one, leaks=unit))) == ("exec-storm", Subject("unit", "jobs.service"))


def test_without_anybody_to_own_the_leak_the_subject_is_left_open() -> None:
    verdict = _judged(case(zombie_walk()))
    assert verdict.verdict == "partly-explained"
    assert _cause(verdict) == ("zombie-memcg", None)
    assert verdict.cause is not None
    assert verdict.cause.confidence <= PRIORS.most_partial
    assert _links(verdict)["subject"].claim == "who leaks them could not be shown"
    assert any(one.startswith("who leaks") for one in _missing(verdict))
    assert verdict.remedies[0].action == "find-leaker"


# -- two at once ---------------------------------------------------------------------------------------------


def _two(first: str = "/r") -> Case:
    return case(starvation(suspect(shapes={SMAPS: 0.5, SLABINFO: 0.5}, cgroup=first)))


def test_two_mechanisms_that_explain_different_samples_alike_are_a_or_b() -> None:
    verdict = _judged(_two())
    link = _links(verdict)["mechanism"]
    assert verdict.verdict == "partly-explained"
    assert ", or " in link.claim
    assert {"walks the page tables" in link.claim, "slab statistics" in link.claim} == {True}
    assert link.doubt.endswith("explains about as much")
    assert verdict.cause is not None
    assert verdict.cause.kind in ("smaps-walk", "slabinfo-read")
    assert verdict.cause.confidence <= PRIORS.most_partial
    assert {one.kind for one in verdict.candidates} == {"smaps-walk", "slabinfo-read"}
    assert verdict.cause.subject == Subject("process", "reader")
    assert sorted(one.action for one in verdict.remedies) == ["newer-kernel", "read-less", "read-less"]


def test_two_whose_subjects_differ_name_neither() -> None:
    """Half of its time it walks zombies, which somebody else leaks; half of it it reads slab statistics itself."""
    who = suspect(shapes={WALK: 0.5, SLABINFO: 0.5}, cgroup="/pods/job")
    verdict = _judged(case(starvation(who, zombies=20_000.0), leaks=leaks()))
    assert verdict.cause is None or verdict.cause.subject is None


def test_two_nested_ones_are_the_more_specific() -> None:
    verdict = _judged(case(zombie_walk(), leaks=leaks()))
    assert verdict.verdict == "explained"
    assert [one.kind for one in verdict.candidates] == ["zombie-memcg", "memcg-reclaim"]


def test_two_cores_that_suit_alike_are_too_many() -> None:
    two = starvation(suspect("two", ODD, pid=78, cgroup="/two"), cpu=2, waits={"victim": 6.0})
    verdict = _judged(case(replace(READER, waits=two.waits), two))
    assert (verdict.verdict, verdict.cause) == ("unexplained", None)
    assert any(one.startswith("certainty: ") for one in _missing(verdict))
    claim = _said(verdict)["not-ruled-out"]
    assert claim.startswith("it may have been reader or two: not enough evidence to name one")
    assert not {"process reader", "process two"} & set(_outcomes(verdict))


def test_two_on_one_core_alike_are_too_many() -> None:
    both = starvation(suspect("one", share=0.5, cgroup="/one"), suspect("two", SMAPS, 0.5, pid=78, cgroup="/two"))
    assert _judged(case(both)).cause is None


def test_the_core_that_the_message_names_counts() -> None:
    two = starvation(suspect("two", pid=78, cgroup="/two"), cpu=2)
    verdict = _judged(case(READER, two, named=NamedCore(2, True, "kmsg")))
    assert verdict.cause is not None
    assert (verdict.cause.cpu, verdict.cause.process) == (2, ProcessRef("two", 78))
    assert "the message itself names core 2" in _said(verdict)["starved-core"]


def test_another_core_than_the_one_that_is_named_is_told_with_its_doubt() -> None:
    routed = NamedCore(2, False, "irq-routing", 3, ("eth0-Tx-Rx-3 (60)",))
    link = _links(_judged(case(READER, named=routed)))["starved-core"]
    assert link.doubt == "queue 3 has the interrupt eth0-Tx-Rx-3 (60), which goes to core 2, not core 1"
    assert link.strength == pytest.approx(PRIORS.core_sure * PRIORS.core_not_routed, abs=0.001)


# -- nobody is named -----------------------------------------------------------------------------------------


def test_no_starved_core_is_unexplained_and_said() -> None:
    verdict = _judged(case())
    assert (verdict.verdict, verdict.cause) == ("unexplained", None)
    (out,) = verdict.tested
    assert (out.hypothesis, out.outcome) == ("starved-core", "ruled-out")
    assert "no core was at least 97 % busy for 2 s" in out.because
    assert "all cores together were 20 % busy" in out.because


@pytest.mark.parametrize(("covered", "text"), [(0.5, "22 s of the 45 s"), (0.0, "none of the 45 s")])
def test_a_core_is_ruled_out_only_where_the_time_before_was_recorded(covered: float, text: str) -> None:
    (out,) = _judged(case(covered=covered)).tested
    assert (out.hypothesis, out.outcome) == ("starved-core", "untested")
    assert text in out.because


def test_a_core_on_which_nobody_was_seen_is_told() -> None:
    verdict = _judged(case(starvation()))
    assert (verdict.verdict, verdict.cause) == ("unexplained", None)
    assert "starved-core" in _links(verdict)
    assert "starved-core" not in _outcomes(verdict)
    assert "who was on core 1: it has no samples" in _missing(verdict)
    damaged = _judged(case(starvation(), damaged=("samples",)))
    assert "who was on core 1: the samples are damaged, as the notes say" in _missing(damaged)


def test_who_is_always_there_is_not_the_cause_of_what_is_rare() -> None:
    verdict = _judged(case(starvation(suspect("regular", USER, 0.99, before=0.9, chance=0.3))))
    assert (verdict.verdict, verdict.cause) == ("unexplained", None)
    out = next(one for one in verdict.tested if one.hypothesis == "process regular")
    assert "no more than usual, or by chance" in out.because
    assert out.outcome == "ruled-out"


def test_others_on_the_core_are_told_as_weaker() -> None:
    one = starvation(suspect(share=0.75), suspect("beside", USER, 0.2, pid=80, cgroup="/b"))
    late = starvation(suspect("before", pid=81, cgroup="/x"), cpu=3, begin=-44, end=-38)
    verdict = _judged(case(one, late))
    found = {each.hypothesis: each.because for each in verdict.tested}
    assert found["process beside"].endswith("too little")
    assert found["process before"].endswith("weaker match")
    assert "38 s before the symptom" in found["process before"]
    assert "process reader" not in found


@pytest.mark.parametrize("subject", ["perf", "recorder", "sensors"])
def test_time_near_the_symptom_that_was_not_recorded_is_told_once(subject: str) -> None:
    low, high = window(-31, -25)
    gap = Gap(low, high, subject, "no samples were taken for 6 s")
    verdict = _judged(case(READER, gaps=(gap,)))
    assert verdict.cause is not None
    assert _missing(verdict).count(gap.text) == 1


def test_a_gap_before_the_symptom_names_nobody_unless_the_core_was_starved_up_to_it() -> None:
    low, high = window(-14, -9.5)
    gap = Gap(low, high, "perf", "perf ended by itself")
    assert _judged(case(READER, gaps=(gap,))).cause is not None
    far = starvation(suspect(), begin=-22, end=-15)
    verdict = _judged(case(far, gaps=(gap,)))
    assert (verdict.verdict, verdict.cause) == ("unexplained", None)
    assert "the time before the symptom: perf ended by itself" in _missing(verdict)
    assert "perf ended by itself" not in _missing(verdict)
    assert _judged(case(far, gaps=(replace(gap, subject="sensors"),))).cause is not None


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"recorded": (-900, -10)}, "which is not the time before it"),
        ({"recorded": (1, 60)}, "which is not the time before it"),
        ({"covered_close": 0.4}, "the cores' counters were not read for most of the 15 s before it"),
    ],
)
def test_where_the_time_before_it_was_not_recorded_nobody_is_named(more: dict[str, object], what: str) -> None:
    far = starvation(suspect(), begin=-22, end=-15)
    verdict = _judged(case(far, **more))  # type: ignore[arg-type]
    assert verdict.cause is None
    assert any(what in one for one in _missing(verdict))


# -- what is missing -----------------------------------------------------------------------------------------


def test_what_was_not_recorded_and_would_have_borne_on_it() -> None:
    complaint = symptom(queue=3, device="eth0")
    blind = Blind("run-delay", 0, "this kernel has no /proc/schedstat")
    other = Blind("gpu", 0, "no device")
    verdict = _judged(case(starvation(suspect(shapes=WALK)), symptom=complaint, blinds=(blind, other)))
    missing = _missing(verdict)
    assert "which core serves queue 3 of eth0: not recorded" in missing
    assert "run-delay: this kernel has no /proc/schedstat" in missing
    assert not any(one.startswith("gpu") for one in missing)
    assert "zombies, which would bear on zombie-memcg" in missing
    named = _judged(case(READER, symptom=complaint, named=NamedCore(1, True, "kmsg")))
    assert not any("queue 3" in one for one in _missing(named))


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({}, "the cores' own counters: idle and steal are guessed from samples"),
        ({"averages_of_s": 10.0}, "of their counters only averages of up to 10 s are known"),
        ({"damaged": ("cores",)}, "the cores' own counters, which are damaged"),
    ],
)
def test_counters_that_were_not_read(more: dict[str, object], what: str) -> None:
    made = case(starvation(suspect(), counted=False), **more)  # type: ignore[arg-type]
    verdict = _judged(replace(made, counted=False))
    assert verdict.cause is not None
    assert any(what in one for one in _missing(verdict))


def test_notes_are_passed_on() -> None:
    assert _judged(case(READER, notes=("segment x cannot be read",))).notes == ("segment x cannot be read",)
    assert _judged(case(notes=("segment x cannot be read",))).notes == ("segment x cannot be read",)


# -- rivals that are not ruled out ---------------------------------------------------------------------------


def test_a_rival_whose_own_numbers_speak_for_it_is_not_ruled_out_and_costs_confidence() -> None:
    clear = _judged(case(READER))
    doubtful = _judged(case(starvation(suspect(share=0.6), steal=0.4, core_steal_before=0.0)))
    assert clear.cause is not None
    assert doubtful.cause is not None
    assert doubtful.cause.kind == "smaps-walk"
    assert _outcomes(doubtful)["steal"] == "not-ruled-out"
    link = _links(doubtful)["not-ruled-out"]
    assert link.claim == "steal is not ruled out: the hypervisor took 40 % of the core, 0 % in quiet times"
    assert link.strength == pytest.approx(1 - PRIORS.rival_takes * 0.4)
    assert link.doubt == "its own numbers explain 40 % of the lost time"
    assert doubtful.weakest == link
    assert doubtful.cause.confidence == pytest.approx(clear.cause.confidence * (link.strength or 0), abs=0.002)


def test_only_the_strongest_of_them_counts() -> None:
    one = starvation(suspect(share=0.6), steal=0.4, core_steal_before=0.0, sibling_busy=1.0, sibling_busy_before=0.0)
    standing = [each for each in _judged(case(one)).links if each.kind == "not-ruled-out"]
    assert [each.strength for each in standing] == [pytest.approx(0.76), None]
    assert [each.doubt == "" for each in standing] == [False, True]


def test_hardware_that_complained_is_not_ruled_out_and_costs_a_little() -> None:
    clear, doubtful = (_judged(case(READER, hardware=one)) for one in ((), (HardwareEvent(0, "hardware-error"),)))
    assert clear.cause is not None
    assert doubtful.cause is not None
    link = _links(doubtful)["not-ruled-out"]
    assert "1 hardware error in the kernel's log (hardware-error)" in link.claim
    assert link.doubt == "how much of the lost time it cost is not known"
    assert 0.85 * clear.cause.confidence < doubtful.cause.confidence < clear.cause.confidence


# -- what was weighed ----------------------------------------------------------------------------------------


def test_candidates_begin_with_the_cause_and_none_on_its_core_is_surer() -> None:
    two = starvation(suspect("two", USER, pid=78, cgroup="/two"), cpu=2)
    for made in (case(READER, two), _two(), case(zombie_walk(), leaks=leaks())):
        verdict = _judged(made)
        assert verdict.cause is not None
        first = verdict.candidates[0]
        assert (first.kind, first.cpu, first.confidence) == (
            verdict.cause.kind,
            verdict.cause.cpu,
            verdict.cause.confidence,
        )
        for other in verdict.candidates:
            assert 0 <= other.explains <= 1
            assert other.because
            assert other.cpu != first.cpu or other.confidence <= first.confidence


def test_the_same_core_again_is_no_other_candidate() -> None:
    verdict = _judged(case(READER, again(READER, -20)))
    assert [one.kind for one in verdict.candidates] == ["smaps-walk"]
