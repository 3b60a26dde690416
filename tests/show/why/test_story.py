"""Verdicts for people: everything that carries the answer is told, in order, within the terminal."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given, settings
from rich.cells import cell_len
from rich.console import Console

from necroscope.show.why.answer import HEADS, Known
from necroscope.show.why.story import print_story
from necroscope.vocabulary.model import Evidence, Subject
from necroscope.vocabulary.verdict import Cause, Link, LinkKind, Missing, ProcessRef, Verdict
from stage.cases import any_value
from stage.verdicts import CANDIDATES, EXPLAINED, LINKS, QUIET, TESTED, UNEXPLAINED

KNOWN = Known(
    {"zombie-memcg": "the kernel iterates over zombie memory cgroups", "user-hog": "a program computes"},
    {"zombie-memcg": "walker", "user-hog": "culprit", "kswapd-spin": "kernel"},
)
HOG = Cause("user-hog", Subject("process", "spinner"), ProcessRef("spinner", 7), 1, 0.8)


def shown(verdict: Verdict, width: int = 80) -> str:
    console = Console(width=width, file=io.StringIO(), no_color=True, emoji=False, highlight=False)
    print_story(verdict, console, KNOWN)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    for verdict in (EXPLAINED, UNEXPLAINED, QUIET):
        assert max(map(cell_len, shown(verdict, width).splitlines())) <= min(width, 100)


def test_the_story_is_told_in_order() -> None:
    story = shown(EXPLAINED)
    parts = [
        "ROOT CAUSE FOUND  zombie-memcg\n",
        "  Root cause: unit acme-agent.service\n",
        "  Symptom: nic-reset of eth0 at 2026-01-02T03:04:05.678Z\n",
        "  The kernel iterates over zombie memory cgroups: 68,540 zombies, 240 live.\n",
        "  Core 39 was starved for 6.6 s, until 2.0 s before the symptom.\n",
        "  Core 39 was running statsd (pid 811), a bystander: stopping it would not help.\n",
        "  Confidence 0.97; weakest link: on the core 0.91, because 6 % of what was\n  sampled on the core",
        "\nWhat to do now\n",
        "  1. Stop it.\n     necroscope fix disable-unit -- acme-agent.service\n     risk: r · cost: none\n",
        "     Step 1 alone does not end the symptom: the 68,540 cgroups left behind stay,\n     and it goes on until",
        "  2. Reboot.",
        "frees what has accumulated",
        " 1  Symptom\n",
        "ena eth0: Trigger reset is on, reason 15  [kmsg]",
        " 2  Starved core  0.97\n",
        "core 39 had no idle time for 6.6 s  [cpu]",
        "▲ the symptom",
        " 3  Blocked tasks\n    trainer waited 5.9 s for it",
        " 4  On the core  0.91\n",
        "? doubt: 6 % of what was sampled",
        " 5  Mechanism  0.98\n",
        "\n      Each costs a cache miss.\n",
        " 6  Ordered by\n",
        " 7  Accumulation\n",
        "zombies over time, and restarts of acme-agent.service",
        " 8  Source of the leak  0.95\n",
        "and 3 more (--json)",
        " 9  Why the unit is running\n",
        "10  Seen before\n",
        "11  When it comes back\n",
        "\nNot ruled out\n  steal is not ruled out: the hypervisor took 31 % of it\n    ? doubt: it explains 31 %",
        "\nRuled out\n  ✗ page faults 60,206 a second, 60,844 in quiet times",
        "\nNot tested\n  ? cpu quota no cgroup",
        "\nOther candidates\n  ~ memcg reclaim core 39, statsd (pid 811): explains 41 % of the lost time,\n",
        "confidence 0.30; 42 % of the samples show it",
        "\nNot recorded\n  ? run-delay",
        "boot with schedstats=enable",
        "Note: the recording has a hole",
    ]
    places = [story.find(part) for part in parts]
    assert -1 not in places, parts[places.index(-1)]
    assert places == sorted(places)


def test_every_kind_of_link_has_a_head_of_its_own() -> None:
    assert set(HEADS) == set(get_args(LinkKind))
    assert len(set(HEADS.values())) == len(HEADS)


@pytest.mark.parametrize(
    ("kind", "subject", "says"),
    [
        ("zombie-memcg", "agent", "Core 1 was running spinner (pid 7), a bystander: stopping it would not help."),
        ("zombie-memcg", "spinner", "Core 1 was running that process itself (pid 7)."),
        ("user-hog", "spinner", "Core 1 was running that process itself (pid 7): stopping it would help."),
        ("user-hog", "spinner (pid 7)", "Core 1 was running that process itself (pid 7): stopping it would help."),
        ("user-hog", "shell", "Core 1 was running spinner (pid 7): stopping it would help."),
        ("kswapd-spin", "x", "Core 1 was running spinner (pid 7), which does what others ordered: stopping it would"),
        ("steal", "x", "Core 1 was running spinner (pid 7)."),
    ],
)
def test_whether_it_helps_to_stop_who_was_on_the_core(kind: str, subject: str, says: str) -> None:
    story = shown(replace(EXPLAINED, cause=replace(HOG, kind=kind, subject=Subject("process", subject))), 100)
    assert f"  {says}" in story


def test_a_mechanism_without_anybody_to_act_on_says_so() -> None:
    cause = Cause("zombie-memcg", None, ProcessRef("statsd", None), None, 0.6)
    story = shown(replace(EXPLAINED, verdict="partly-explained", cause=cause))
    assert story.startswith("PROBABLE CAUSE, PARTLY EXPLAINED  zombie-memcg\n  Whom to act on could not be shown.\n")
    assert "The core was running statsd, a bystander" in story
    assert "Confidence 0.60" in story
    # That stopping it would help is not said of a cause that is not fully shown.
    assert "would help" not in shown(replace(EXPLAINED, verdict="partly-explained", cause=HOG))


def test_what_confirms_a_mechanism_is_its_number_where_nothing_accumulates() -> None:
    links = tuple(replace(one, claim="a program computes") for one in LINKS if one.kind == "mechanism")
    story = shown(replace(EXPLAINED, cause=HOG, links=links))
    assert "  A program computes: 68,540 are in its tree.\n" in story
    assert "Step 1 alone" not in story
    either = replace(links[0], claim="a program computes, or something else")
    assert "  A program computes, or something else.\n" in shown(replace(EXPLAINED, cause=HOG, links=(either,)))


def test_what_goes_on_is_said_where_something_was_left_behind() -> None:
    assert "Step 1 alone" in shown(EXPLAINED)
    purging = tuple(one for one in EXPLAINED.remedies if one.purges_existing)
    assert "Step 1 alone" not in shown(replace(EXPLAINED, remedies=purging))
    uncounted = tuple(one for one in LINKS if one.kind != "accumulation")
    assert "the cgroups left behind stay" in shown(replace(EXPLAINED, links=uncounted))


def test_no_cause_names_nobody_and_says_first_what_is_open() -> None:
    story = shown(replace(UNEXPLAINED, candidates=CANDIDATES[1:]))
    parts = [
        "NOT ENOUGH EVIDENCE TO NAME A CAUSE\n  Symptom: nic-reset of eth0",
        "\nNot ruled out\n  it may have been spinner: not enough to be sure",
        "\nNot recorded\n  ? no samples of core 39",
        " 1  Symptom",
        "\nRuled out\n",
        "\nCandidates\n  ~ memcg reclaim",
    ]
    places = [story.find(part) for part in parts]
    assert -1 not in places, parts[places.index(-1)]
    assert places == sorted(places)
    assert "acme" not in story
    assert "Root cause" not in story


def test_a_hypothesis_that_is_not_ruled_out_is_told_once() -> None:
    standing = replace(TESTED[0], hypothesis="steal", outcome="not-ruled-out", because="the hypervisor took 31 % of it")
    assert shown(replace(EXPLAINED, tested=(standing,))).count("the hypervisor took") == 1
    alone = shown(replace(EXPLAINED, links=LINKS[:3], tested=(standing,)))
    assert "\nNot ruled out\n  ? steal the hypervisor took 31 % of it" in alone
    assert "Ruled out\n  ✗" not in alone


def test_ids_are_words_and_names_stay_names() -> None:
    story = shown(replace(EXPLAINED, tested=(TESTED[0], replace(TESTED[0], hypothesis="process a-b"))))
    assert "✗ page faults 60,206" in story
    assert "✗ process a-b 60,206" in story


def test_nothing_to_explain() -> None:
    assert shown(QUIET).splitlines() == [
        "NOTHING TO EXPLAIN",
        "  No symptom was recorded, and no core was starved for long without one.",
    ]


def test_what_cannot_be_told_is_no_green_light() -> None:
    verdict = Verdict("unexplained", missing=(Missing("that time", "wait"),), notes=("a.parquet is bad",))
    lines = shown(verdict, width=100).splitlines()
    assert lines[:2] == ["INCONCLUSIVE", "  Whether there was a symptom cannot be told from this recording."]
    assert "  ? that time (wait)" in lines
    assert lines[-1] == "Note: a.parquet is bad"


def test_names_cannot_write_to_the_terminal() -> None:
    evil = "a\x1b[2J[red]b\n"
    cause = Cause("zombie-memcg", Subject("unit", evil), ProcessRef(evil, 1), 0, 0.9)
    link = Link("on-core", evil, (Evidence(evil + " x", evil),), 0.5, evil)
    story = shown(replace(EXPLAINED, cause=cause, links=(link,)), 100)
    assert "\x1b" not in story
    assert story.count("\\x1b[2J[red]b\\x0a") == 7


@settings(max_examples=60, deadline=None)
@given(any_value(Verdict))
def test_any_verdict_can_be_told(verdict: Verdict) -> None:
    for width in (40, 80):
        story = shown(verdict, width)
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", story)
        assert max(map(cell_len, story.split("\n"))) <= width
