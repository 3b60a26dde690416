"""One screen: the answer, what to do now and a line for each link, whatever names are like."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from hypothesis import given, settings
from rich.cells import cell_len
from rich.console import Console

from necroscope.show.why.brief import print_brief
from necroscope.vocabulary.model import Subject
from necroscope.vocabulary.verdict import Cause, Missing, ProcessRef, Verdict
from show.why.test_story import KNOWN
from stage.cases import any_value
from stage.verdicts import EXPLAINED, LINKS, QUIET, UNEXPLAINED

LONG = "-".join(["a-very-long-name-of-a-unit"] * 9) + "@with\\x2descapes.service"


def shown(verdict: Verdict, width: int = 80) -> list[str]:
    console = Console(width=width, file=io.StringIO(), no_color=True, emoji=False, highlight=False)
    print_brief(verdict, console, KNOWN)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]


def test_the_answer_what_to_do_and_the_links() -> None:
    assert shown(replace(EXPLAINED, links=LINKS[:8])) == [
        "ROOT CAUSE FOUND  zombie-memcg",
        "  Root cause: unit acme-agent.service",
        "  Symptom: nic-reset of eth0 at 2026-01-02T03:04:05.678Z",
        "  The kernel iterates over zombie memory cgroups: 68,540 zombies, 240 live.",
        "  Core 39 was running statsd (pid 811), a bystander: stopping it would not help.",
        "  Confidence 0.97; weakest link: on the core 0.91, because 6 % of what was",
        "  sampled on the core was somebody else's",
        "What to do now",
        "  1. Stop it.",
        "     necroscope fix disable-unit -- acme-agent.service",
        "  Step 1 alone does not end the symptom: the 68,540 cgroups left behind stay,",
        "  and it goes on until they are freed or the node reboots.",
        "Evidence",
        "  Starved core            0.97 core 39 was starved for 6.6 s, until 2.0 s befor…",
        "  Blocked tasks                trainer waited 5.9 s for it",
        "  On the core             0.91 statsd (pid 811) took 98 % of core 39",
        "  Mechanism               0.98 the kernel iterates over zombie memory cgroups",
        "  Ordered by                   kubelet ordered it: 80 % of the calls that make …",
        "  Accumulation                 zombie memory cgroups accumulate",
        "  Source of the leak      0.95 unit acme-agent.service leaks them",
        "  Not recorded: run-delay: this kernel has no /proc/schedstat",
        "the whole story: necroscope why without --brief",
    ]


def test_whether_it_helps_to_stop_who_was_on_the_core_is_not_cut() -> None:
    cause = Cause("zombie-memcg", None, ProcessRef("fifteen-letters", 4_194_304), 127, 0.97)
    assert "a bystander: stopping it would not help." in " ".join(
        map(str.strip, shown(replace(EXPLAINED, cause=cause)))
    )


def test_what_has_no_room_is_counted() -> None:
    lines = shown(EXPLAINED)
    assert len(lines) == 24
    assert lines[-2] == "  and 3 lines more"


def test_where_nobody_is_named_what_may_have_been_it_comes_first() -> None:
    lines = shown(replace(UNEXPLAINED, links=LINKS, missing=(Missing("one"), Missing("two"))))
    assert lines[0] == "NOT ENOUGH EVIDENCE TO NAME A CAUSE"
    assert lines[3].startswith("  Not ruled out           0.93 steal is not ruled out")
    assert lines[-2] == "  Not recorded: one and 1 more"


def test_nothing_to_explain() -> None:
    assert shown(QUIET)[0] == "NOTHING TO EXPLAIN"
    assert len(shown(QUIET)) == 2


@pytest.mark.parametrize("width", [40, 80])
def test_long_names_fit_and_a_command_is_whole_or_absent(width: int) -> None:
    cause = Cause("zombie-memcg", Subject("unit", LONG), ProcessRef(LONG, 811), 39, 0.97)
    command = f"necroscope fix disable-unit -- '{LONG}'"
    remedies = (replace(EXPLAINED.remedies[0], subject=LONG, command=command), *EXPLAINED.remedies[1:])
    links = tuple(replace(one, claim=f"{LONG} {one.claim}", doubt=LONG) for one in LINKS)
    lines = shown(replace(EXPLAINED, cause=cause, remedies=remedies, links=links), width)
    assert len(lines) <= 24
    assert max(map(cell_len, lines)) <= width
    whole = "".join(line.removeprefix("     ") for line in lines if line.startswith("     "))
    assert (command in whole) is (width == 80)
    assert ("its command is too long" in whole) is (width == 40)


@settings(max_examples=60, deadline=None)
@given(any_value(Verdict))
def test_any_verdict_fits_one_screen(verdict: Verdict) -> None:
    lines = shown(verdict)
    assert len(lines) <= 24
    assert max(map(cell_len, lines)) <= 80
    assert all(line.isprintable() for line in lines)
