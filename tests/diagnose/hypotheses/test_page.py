"""docs/mechanisms.md says what there is, and docs/add-a-mechanism.md works."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from necroscope.diagnose.hypotheses import Advice, Check, OrderedBy, Storm, catalogue, load
from necroscope.diagnose.hypotheses.entry import MECHANISM, RIVAL
from necroscope.diagnose.hypotheses.hypothesis import Hypothesis
from necroscope.diagnose.judge.suspect_facts import facts_of
from stage.build_case import starvation, suspect
from stage.kept_cases import NAMES, kept

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "mechanisms.md").read_text("utf-8")
RECIPE = (DOCS / "add-a-mechanism.md").read_text("utf-8")
KNOWN = catalogue()
_ROLES = {
    "culprit": "who causes it",
    "walker": "a bystander",
    "kernel": "the kernel, on behalf of others",
}


def _section(title: str) -> str:
    found = re.search(rf"^## {re.escape(title)}.*?$(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, title
    return found[1]


def _documented(text: str) -> set[str]:
    return set(re.findall(r"`([a-z_*]+)`", text))


def _exists(fact: str, documented: set[str]) -> bool:
    """Whether a fact is on the page, by its name or by a pattern, without what stands for quiet times and the core."""
    bare = re.sub(r"(_before|_lift)$", "", fact)
    bare = {bare, bare.removesuffix("_core")} & documented
    wild = tuple(name.removesuffix("*") for name in documented if name.endswith("*"))
    return bool(bare) or fact.startswith((*wild, "softirq_"))


def test_every_mechanism_is_on_the_page_as_it_is() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| ([^|]+) \| ([^|]+) \|$", _section("Our mechanisms"), re.MULTILINE)
    assert rows == [(one.id, one.title, _ROLES[one.role]) for one in KNOWN.mechanisms]


def test_every_rival_is_on_the_page_as_it_is() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| ([^|]+) \| [^|]+ \| (yes|no) \|$", _section("Our rivals"), re.MULTILINE)
    assert rows == [(one.id, one.title, "yes" if one.cause else "no") for one in KNOWN.rivals]


def test_every_field_is_on_the_page() -> None:
    mechanism, rival = _documented(_section("Fields of a mechanism")), _documented(_section("Fields of a rival"))
    assert set(MECHANISM) <= mechanism
    assert set(RIVAL) <= rival
    assert {"see_through", "measures"} <= _documented(_section("Stacks"))
    inner = [*(one.name for kind in (Check, Storm, OrderedBy) for one in fields(kind)), "below_kernel", "for"]
    assert set(inner) | {"purges_existing"} <= mechanism


def test_what_a_hypothesis_holds_can_be_written_and_nothing_else() -> None:
    held = {one.name for one in fields(Hypothesis)} - {"sort", "source", "advice"} | {"remedies"}
    assert held == set(MECHANISM) | set(RIVAL)
    assert {one.name for one in fields(Advice)} == {"remedy", "kinds", "below_kernel"}


def test_every_measure_is_on_the_page() -> None:
    documented = set(re.findall(r"^\| `([a-z]+)` \|", _section("Fields of a rival"), re.MULTILINE))
    assert {one.measure for one in KNOWN.rivals} <= documented


def test_every_fact_that_is_asked_for_is_on_the_page() -> None:
    documented = _documented(_section("Facts"))
    asked = {check.fact for one in KNOWN.mechanisms for check in (*one.confirm, *one.refute)}
    for one in (*KNOWN.mechanisms, *KNOWN.rivals):
        asked |= {*one.facts, *(one.ordered_by.outside if one.ordered_by else ()), one.fact, one.rate} - {""}
    assert not [fact for fact in sorted(asked) if not _exists(fact, documented)]


def test_every_fact_that_cases_have_is_on_the_page() -> None:
    documented = _documented(_section("Facts"))
    numbers = {"nic_rx_packets": 1.0, "softnet_processed_packets_core": 9.0, "throttle_throttled_seconds": 0.0}
    one = starvation(suspect(processes=9), waits={"victim": 5.0}, execs=90.0, **numbers)
    made = set(facts_of(one, one.line_up.suspects[0], KNOWN))
    for name in NAMES:
        for each in kept(name).starvations:
            made |= set(each.numbers)
    assert not [fact for fact in sorted(made) if not _exists(fact, documented)]


def test_every_fact_on_the_page_is_one_that_is_made() -> None:
    """By the names of signals, and by those that the judge adds."""
    signals = (DOCS / "signals.md").read_text("utf-8")
    known = set(re.findall(r"^\| `([a-z_0-9]+)` \|", signals, re.MULTILINE))
    one = starvation(suspect(processes=9), waits={"victim": 5.0}, execs=90.0, throttle_throttled_seconds=0.0)
    made = set(facts_of(one, one.line_up.suspects[0], KNOWN))
    made |= {"zombies", "tracked", "live", "directories", "cores", "oom_kills", "oom_events", "sibling_busy"}
    made |= {"pressure_cpu", "pressure_memory", "pressure_io", "packets_from_outside", "measures"}
    for name in _documented(_section("Facts").partition("| fact |")[2]) - {"_before", "_lift", "_core"}:
        wild = name.endswith("*") and any(each.startswith(name[:-1]) for each in known)
        core = name.removesuffix("_core")
        assert wild or name in made or core in known or name.startswith("softirq_"), name


def test_the_recipe_is_one_page_and_its_entries_load() -> None:
    assert len(RECIPE.splitlines()) <= 60
    mechanism, rival = (load(text, "page") for text in re.findall(r"```toml\n(.*?)```", RECIPE, re.DOTALL))
    (one,) = mechanism.mechanisms
    (other,) = rival.rivals
    assert (one.id, one.functions) == ("extent-walk", ("acme_extent_walk", "acme_*_flush"))
    assert (other.id, other.fact) == ("storage-latency", "pressure_io")
    documented = _documented(_section("Facts"))
    for fact in (*(check.fact for check in (*one.confirm, *one.refute)), other.fact):
        assert _exists(fact, documented)
