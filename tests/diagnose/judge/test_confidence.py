"""How sure a verdict is: a product of its links, whatever the case; and nothing that decides is a matter of a prior."""

from __future__ import annotations

from dataclasses import fields, replace
from math import prod

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from necroscope.diagnose.hypotheses import catalogue
from necroscope.diagnose.judge import judge
from necroscope.diagnose.priors import PRIORS, Priors
from necroscope.vocabulary.case import Caller, Case, Quota, Starvation, Suspect
from necroscope.vocabulary.verdict import Verdict
from stage.build_case import (
    EXEC,
    NET_RX,
    ODD,
    SLABINFO,
    SMAPS,
    USER,
    WALK,
    case,
    leaks,
    mark,
    other,
    starvation,
    suspect,
    symptom,
)
from stage.cases import any_case
from stage.clear_cases import CLEAR, outcome

KNOWN = catalogue()


def _check(verdict: Verdict) -> None:
    """What holds of any verdict."""
    for link in verdict.links:
        assert link.strength is None or 0 <= link.strength <= 1
    for other_cause in verdict.candidates:
        assert 0 <= other_cause.confidence <= PRIORS.most
        assert 0 <= other_cause.explains <= 1
    for tested in verdict.tested:
        assert tested.because
        assert tested.explains is None or 0 <= tested.explains <= 1
    cause = verdict.cause
    if cause is None:
        assert verdict.verdict == "unexplained"
        assert not verdict.remedies
        return
    assert PRIORS.floor <= cause.confidence <= PRIORS.most
    assert (verdict.verdict == "partly-explained") == _half(verdict)
    cap = PRIORS.most if verdict.verdict == "explained" else PRIORS.most_partial
    product = prod(link.strength for link in verdict.links if link.strength is not None)
    assert cause.confidence == pytest.approx(min(product, cap), abs=0.004)
    assert verdict.weakest is not None
    assert verdict.weakest.strength == min(link.strength for link in verdict.links if link.strength is not None)


def _half(verdict: Verdict) -> bool:
    """Whether the mechanism, or whom to act on, is not known, or what ties a rival to the symptom."""
    assert verdict.cause is not None
    if verdict.cause.kind in {one.id for one in KNOWN.rivals}:
        return True
    nameless = verdict.cause.kind == "unknown-mechanism"
    either = any(", or " in link.claim for link in verdict.links if link.kind == "mechanism")
    return verdict.cause.subject is None or nameless or either


# -- clear cases ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CLEAR)
def test_what_is_clear_is_judged_right_with_the_product_of_its_links(name: str) -> None:
    made, truth = CLEAR[name]
    verdict = judge(made, KNOWN)
    assert outcome(verdict, truth) == "right"
    _check(verdict)


def _changed(prior: str, factor: float) -> Priors:
    value = getattr(PRIORS, prior)
    if isinstance(value, int):
        return replace(PRIORS, **{prior: max(1, round(value * factor))})
    # a strength or a share is never above 1
    return replace(PRIORS, **{prior: min(1.0, value * factor) if value <= 1 else value * factor})


@pytest.mark.parametrize("factor", [0.7, 1.3])
@pytest.mark.parametrize("prior", [one.name for one in fields(Priors)])
def test_no_prior_makes_a_clear_case_wrong(prior: str, factor: float) -> None:
    priors = _changed(prior, factor)
    wrong = [name for name, (made, truth) in CLEAR.items() if outcome(judge(made, KNOWN, priors), truth) == "wrong"]
    assert wrong == []


def test_a_verdict_without_doubt_says_so_by_its_links() -> None:
    made, _ = CLEAR["a reader of smaps in a unit"]
    assert {one.kind: one.doubt for one in judge(made, KNOWN).links if one.strength is not None} == {
        "starved-core": "",
        "on-core": "",
        "mechanism": "",
        "subject": "",
    }


@pytest.mark.parametrize(
    ("one", "kind", "doubt"),
    [
        (starvation(suspect(), end=-16, begin=-23), "starved-core", "it ended 16 s before the symptom"),
        (
            starvation(suspect(before=None), blocks=0),
            "on-core",
            "there are no quiet times to compare with",
        ),
        (
            starvation(suspect(share=0.7), suspect("x", USER, 0.3, before=0.3, chance=0.5, cgroup="/x")),
            "on-core",
            "30 % of what was sampled on the core was somebody else's",
        ),
        (starvation(suspect(shapes=WALK)), "mechanism", "no number confirms it"),
        (
            starvation(suspect(shapes=("wb_workfn", "wb_writeback")), pressure_io=0.01),
            "mechanism",
            "pressure_io does not confirm it (0.01)",
        ),
        (starvation(suspect("odd", ODD), waits={"v": 6.0}), "mechanism", "no entry of the catalogue names"),
        (
            starvation(suspect("hog", USER), waits={"v": 6.0}),
            "mechanism",
            "computing is what a core is for",
        ),
        (starvation(suspect(shapes=NET_RX, context="softirq")), "subject", "nobody is named to act on"),
    ],
)
def test_a_weak_link_says_what_is_doubtful(one: Starvation, kind: str, doubt: str) -> None:
    verdict = judge(case(one, recorded=(-900, 60)), KNOWN)
    assert verdict.cause is not None
    link = next(each for each in verdict.links if each.kind == kind)
    assert link.doubt.startswith(doubt)
    assert (link.strength or 0) < 0.96
    assert verdict.weakest is not None
    assert verdict.weakest.doubt


# -- any case ------------------------------------------------------------------------------------------------

_SHARES = st.floats(0, 1).map(lambda share: round(share, 4))
_STACKS = st.sampled_from([USER, SMAPS, SLABINFO, WALK, ODD, EXEC, NET_RX])
_NAMES = st.sampled_from(["a", "b", "c"])
_FACTS = st.dictionaries(
    st.sampled_from(
        [
            *("zombies", "directories", "tracked", "execs", "execs_before", "core_steal_before", "sibling_busy"),
            *("cpu_frequency_hertz_core", "cpu_frequency_hertz_core_before", "nic_rx_errors", "vmstat_pgfault"),
            *("cpu_run_delay_seconds_core", "softnet_processed_packets_core", "nic_rx_packets", "pressure_io"),
            *("vmstat_pgfault_lift", "throttle_throttled_seconds", "core_softirq_before"),
        ]
    ),
    st.floats(0, 1e6),
)


@st.composite
def _suspects(draw: st.DrawFn) -> Suspect:
    name = draw(_NAMES)
    return suspect(
        name,
        draw(st.dictionaries(_STACKS, st.floats(0.01, 1), min_size=1, max_size=3)),
        draw(_SHARES),
        before=draw(st.none() | _SHARES),
        cgroup=draw(st.sampled_from(["", "/", "/x", "/system.slice/x.service"])),
        pid=ord(name),
        processes=draw(st.sampled_from([1, 1, 9, 400])),
        context=draw(st.sampled_from(["", "", "softirq", "irq"])),
        chance=draw(_SHARES),
    )


@st.composite
def _starvations(draw: st.DrawFn) -> Starvation:
    begin = draw(st.floats(-60, 10))
    long = draw(st.floats(0.5, 30))
    callers = [Caller("z", "/x", ("__sys_sendto", "kernel_clone"), draw(st.floats(0, 9)), draw(st.floats(0, 9)))]
    return starvation(
        *draw(st.lists(_suspects(), max_size=3)),
        cpu=draw(st.integers(0, 3)),
        begin=begin,
        end=begin + long,
        steal=draw(_SHARES),
        blocks=draw(st.sampled_from([0, 6])),
        sampled=draw(st.none() | _SHARES),
        waits=draw(st.dictionaries(_NAMES, st.floats(0, long), max_size=2)),
        callers=draw(st.sampled_from([None, callers])),
        quotas=draw(st.lists(st.builds(Quota, _NAMES, _SHARES, st.none() | _SHARES), max_size=2)),
        counted=draw(st.booleans()),
        **draw(_FACTS),
    )


@st.composite
def _cases(draw: st.DrawFn) -> Case:
    others = st.lists(st.builds(other, _starvations(), seconds=st.floats(-800, -60)), max_size=3).map(tuple)
    return case(
        *draw(st.lists(_starvations(), max_size=3)),
        symptom=draw(st.sampled_from([symptom(), mark(), symptom(source="asked", kind="moment")])),
        leaks=draw(st.sampled_from([leaks(), leaks(seen=2)])),
        others=draw(st.none() | others),
    )


_SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)


@settings(max_examples=250, deadline=None, suppress_health_check=_SLOW)
@given(_cases())
def test_any_case_has_a_verdict_that_adds_up(made: Case) -> None:
    verdict = judge(made, KNOWN)
    assert judge(made, KNOWN) == verdict
    _check(verdict)


@settings(max_examples=150, deadline=None, suppress_health_check=_SLOW)
@given(any_case())
def test_a_case_of_any_numbers_at_all_has_a_verdict(made: Case) -> None:
    """As a file may hold it: nothing in it need make sense."""
    verdict = judge(made, KNOWN)
    assert judge(made, KNOWN) == verdict
    assert verdict.cause is None or PRIORS.floor <= verdict.cause.confidence <= PRIORS.most


def test_what_began_when_the_symptom_had_been_reported_names_nobody() -> None:
    verdict = judge(case(starvation(suspect(), begin=0, end=7)), KNOWN)
    assert (verdict.verdict, verdict.cause) == ("unexplained", None)
