"""Somebody waited on the node, and nobody knows who: it counts where only one core can be meant."""

from __future__ import annotations

import pytest

from necroscope.diagnose.hypotheses import catalogue
from necroscope.diagnose.judge import judge
from necroscope.diagnose.priors import PRIORS
from necroscope.vocabulary.case import Case, NamedCore
from stage.build_case import ODD, USER, case, starvation, suspect

_KNOWN = catalogue()
_PRESSED = {"pressure_cpu": 0.55, "pressure_cpu_before": 0.01}


def _cause(made: Case) -> str | None:
    cause = judge(made, _KNOWN).cause
    return cause.kind if cause is not None else None


@pytest.mark.parametrize(("stack", "kind"), [(USER, "user-hog"), (ODD, "unknown-mechanism")])
def test_where_one_core_was_starved_its_pressure_tells_that_somebody_waited(stack: object, kind: str) -> None:
    who = suspect(shapes=stack)  # type: ignore[arg-type]
    assert _cause(case(starvation(who))) is None
    assert _cause(case(starvation(who, **_PRESSED))) == kind
    assert _cause(case(starvation(who, pressure_cpu=0.55, pressure_cpu_before=0.5))) is None


def test_what_quotas_stopped_is_no_pressure() -> None:
    stopped = {"throttle_throttled_seconds": 0.6, "throttle_throttled_seconds_before": 0.0}
    assert _cause(case(starvation(suspect(shapes=USER), **_PRESSED, **stopped))) is None


def test_of_two_starved_cores_pressure_tells_nothing_unless_the_complaint_names_one() -> None:
    one = starvation(suspect("one", USER), cpu=1, **_PRESSED)
    two = starvation(suspect("two", USER, pid=78, cgroup="/two"), cpu=2, **_PRESSED)
    assert _cause(case(one, two)) is None
    assert _cause(case(one, two, named=NamedCore(1, True, "mark"))) == "user-hog"


def test_who_is_known_to_have_had_the_core_as_he_wanted_speaks_against_it() -> None:
    assert _cause(case(starvation(suspect(shapes=USER), waits={"victim": 0.1}, **_PRESSED))) is None
    pressed = judge(case(starvation(suspect(shapes=USER), **_PRESSED)), _KNOWN).cause
    waited = judge(case(starvation(suspect(shapes=USER), waits={"victim": 6.0}, **_PRESSED)), _KNOWN).cause
    assert pressed is not None
    assert waited is not None
    assert PRIORS.floor < pressed.confidence < waited.confidence
