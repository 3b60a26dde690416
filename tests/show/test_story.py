"""Verdicts as stories: everything that carries the answer is told, in order, within the terminal."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from necroscope.model import Evidence, Subject
from necroscope.show.story import HEADS, print_story
from necroscope.show.story_groups import print_groups
from necroscope.verdict import Cause, Claim, Group, Missing, ProcessRef, Verdict
from stage.verdicts import AT_NS, EXPLAINED, QUIET, SYMPTOM, UNEXPLAINED

TITLES = {"zombie-memcg": "the kernel walks removed memory cgroups", "user-hog": "a program computes"}
INNOCENT = frozenset({"zombie-memcg"})


def _console(width: int) -> Console:
    return Console(width=width, file=io.StringIO(), no_color=True, emoji=False, highlight=False)


def _told(verdict: Verdict, width: int = 80) -> str:
    console = _console(width)
    print_story(verdict, console, TITLES, INNOCENT)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    lines = _told(EXPLAINED, width).splitlines()
    assert max(map(cell_len, lines)) <= width


def test_the_story_is_told_in_order() -> None:
    told = _told(EXPLAINED)
    parts = [
        "✖ EXPLAINED  zombie-memcg   confidence 97 %",
        "unit acme-agent.service is behind it.",
        "The kernel walks removed memory cgroups.",
        "On core 39 was statsd (pid 811): it pays for what others left",
        " 1  What happened",
        "nic-reset of eth0",
        " 2  Which core was taken",
        "core 39 had no idle time for 6.6 s  [cpu]",
        "▲ the symptom",
        " 3  Who was on it",
        " 4  Why that takes so long",
        "\n      Each costs a cache miss.\n",
        " 5  What piled up",
        "zombies over time, and restarts of acme-agent.service",
        " 6  Who leaves it behind",
        "and 3 more (--json)",
        " 7  Why that runs at all",
        " 8  Something new",
        "It was not",
        "page faults 60,206 a second, 60,844 in quiet times",
        "Could not be tested",
        "cpu quota no cgroup",
        "What could not be seen",
        "run-delay",
        "boot with schedstats=enable",
        "What to do",
        "systemctl disable --now -- acme-agent.service",
        "frees what has piled up",
        "Note: the recording has a hole",
    ]
    places = [told.find(part) for part in parts]
    assert -1 not in places, parts[places.index(-1)]
    assert places == sorted(places)


def test_the_culprit_itself_does_not_pay_for_others() -> None:
    cause = Cause("user-hog", Subject("process", "spinner"), ProcessRef("spinner", 7), 1, 0.8)
    told = _told(replace(EXPLAINED, cause=cause))
    assert "process spinner is behind it." in told
    assert "On core 1 was that process itself." in told
    assert "pays" not in told


def test_a_mechanism_without_a_culprit_says_so() -> None:
    cause = Cause("zombie-memcg", None, ProcessRef("statsd", None), 39, 0.6)
    told = _told(replace(EXPLAINED, verdict="partly-explained", cause=cause))
    assert "▲ PARTLY EXPLAINED  zombie-memcg" in told
    assert "Who is behind it could not be told." in told
    assert "On core 39 was statsd.\n" in told


def test_no_cause_names_nobody() -> None:
    told = _told(UNEXPLAINED)
    assert told.startswith("? UNEXPLAINED\n")
    assert "acme" not in told
    assert "no samples of core 39" in told


def test_nothing_to_explain() -> None:
    assert _told(QUIET).splitlines() == [
        "✔ NOTHING TO EXPLAIN",
        "  No symptom was recorded, and no core was taken for long without one.",
    ]


def test_what_cannot_be_told_is_no_green_light() -> None:
    verdict = Verdict("unexplained", missing=(Missing("that time", "wait"),), notes=("a.parquet is bad",))
    lines = _told(verdict, width=100).splitlines()
    assert lines[:2] == [
        "? INCONCLUSIVE",
        "  Whether there was a symptom cannot be told from this recording. Why not is below.",
    ]
    assert "  ? that time (wait)" in lines
    assert lines[-1] == "Note: a.parquet is bad"


def test_names_cannot_write_to_the_terminal() -> None:
    evil = "a\x1b[2J[red]b"
    cause = Cause("zombie-memcg", Subject("unit", evil), ProcessRef(evil, 1), 0, 0.9)
    told = _told(replace(EXPLAINED, cause=cause, chain=(Claim("walker", evil, (Evidence(evil + " x", evil),)),)))
    assert "\x1b" not in told
    assert told.count("\\x1b[2J[red]b") == 5


# -- groups ------------------------------------------------------------------------------------------------------------


def _listed(*groups: Group, width: int = 80, notes: tuple[str, ...] = ()) -> list[str]:
    console = _console(width)
    print_groups(groups, console, TITLES, notes)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]


def test_groups_share_one_axis_of_time() -> None:
    early, late = SYMPTOM, replace(SYMPTOM, at_ns=AT_NS + 10**12, kind="soft-lockup", id=43)
    lines = _listed(Group(EXPLAINED, (early, late)), Group(UNEXPLAINED, (replace(early, id=44),)))
    assert lines[0] == "3 symptoms, 1 cause · 2026-01-02 03:04:05.678 to 03:20:45.678 UTC"
    assert "✖ unit acme-agent.service  zombie-memcg  97 %" in lines
    assert f"  ▲{'·' * 74}▲" in lines
    assert f"  ▲{'·' * 75}" in lines
    assert "? 1 symptom without a cause" in lines
    assert "  nic-reset, soft-lockup" in lines
    assert "  necroscope why --event 42" in lines
    assert max(map(cell_len, lines)) <= 80


def test_no_groups() -> None:
    assert _listed() == ["No symptom was recorded."]


def test_one_symptom_has_no_axis() -> None:
    assert not any("▲" in line for line in _listed(Group(UNEXPLAINED, (SYMPTOM,))))


def test_every_kind_of_claim_that_is_made_has_a_head_of_its_own() -> None:
    folder = Path(str(files("necroscope.diagnose"))) / "why"
    made = {
        kind for path in folder.glob("*.py") for kind in re.findall(r'Claim\(\s*"([a-z-]+)"', path.read_text("utf-8"))
    }
    assert len(made) >= 8
    assert made <= set(HEADS)


def test_what_could_not_be_read_is_told_with_and_without_groups() -> None:
    told = _listed(width=100, notes=("a.parquet is bad",))
    assert told[0].endswith("whether there was one cannot be told.")
    assert told[-1] == "Note: a.parquet is bad"
    assert _listed(Group(EXPLAINED, (SYMPTOM,)), notes=("a.parquet is bad",))[-1] == "Note: a.parquet is bad"
