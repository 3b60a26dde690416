"""Every symptom, those of one cause together."""

from __future__ import annotations

import io
from dataclasses import replace

from rich.cells import cell_len
from rich.console import Console

from necroscope.show.why.groups import print_groups
from necroscope.vocabulary.verdict import Group
from show.why.test_story import KNOWN
from stage.verdicts import AT_NS, EXPLAINED, SYMPTOM, UNEXPLAINED


def _listed(*groups: Group, width: int = 80, notes: tuple[str, ...] = ()) -> list[str]:
    console = Console(width=width, file=io.StringIO(), no_color=True, emoji=False, highlight=False)
    print_groups(groups, console, KNOWN, notes)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]


def test_groups_share_one_axis_of_time() -> None:
    early, late = SYMPTOM, replace(SYMPTOM, at_ns=AT_NS + 10**12, kind="soft-lockup", id=43)
    lines = _listed(Group(EXPLAINED, (early, late)), Group(UNEXPLAINED, (replace(early, id=44),)))
    assert lines == [
        "3 symptoms, 1 root cause · 2026-01-02 03:04:05.678 to 03:20:45.678 UTC",
        "",
        "Root cause: unit acme-agent.service  zombie-memcg  confidence 0.97",
        "  2 symptoms. The kernel iterates over zombie memory cgroups.",
        f"  ▲{'·' * 74}▲",
        "  nic-reset, soft-lockup",
        "  necroscope why --event 0000000",
        "",
        "1 symptom: not enough evidence to name a cause",
        f"  ▲{'·' * 75}",
        "  nic-reset",
        "  necroscope why --event 0000000",
    ]


def test_no_groups() -> None:
    assert _listed() == ["No symptom was recorded."]


def test_one_symptom_has_no_axis() -> None:
    assert not any("▲" in line for line in _listed(Group(UNEXPLAINED, (SYMPTOM,))))


def test_a_cause_without_anybody_to_act_on() -> None:
    assert EXPLAINED.cause is not None
    lines = _listed(Group(replace(EXPLAINED, cause=replace(EXPLAINED.cause, subject=None)), (SYMPTOM,)))
    assert lines[2] == "Whom to act on could not be shown.  zombie-memcg  confidence 0.97"


def test_what_could_not_be_read_is_told_with_and_without_groups() -> None:
    lines = _listed(width=100, notes=("a.parquet is bad",))
    assert lines[0].endswith("whether there was one cannot be told.")
    assert lines[-1] == "Note: a.parquet is bad"
    assert _listed(Group(EXPLAINED, (SYMPTOM,)), notes=("a.parquet is bad",))[-1] == "Note: a.parquet is bad"


def test_names_cannot_write_to_the_terminal() -> None:
    evil = replace(SYMPTOM, kind="a\x1b[2J[red]b")
    lines = _listed(Group(UNEXPLAINED, (evil,)), notes=("\x1b[2J",), width=40)
    assert not any("\x1b" in line for line in lines)
    assert "  a\\x1b[2J[red]b" in lines
    assert max(map(cell_len, lines)) <= 40
