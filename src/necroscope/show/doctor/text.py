"""What `doctor` found: the answer first, what is wrong or blind next, what is fine last."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.text import Text

from necroscope.show.doctor.checkup import Check, Checkup, Grade
from necroscope.show.plain import plain, valid

_ANSWERS = {
    0: ("This node can be recorded.", "bold green"),
    1: ("Something is wrong.", "bold red"),
    3: ("This node cannot be recorded in full.", "bold yellow"),
}
_SIGNS: dict[Grade, tuple[str, str]] = {
    "wrong": ("✖", "bold red"),
    "blind": ("?", "bold yellow"),
    "note": ("·", "cyan"),
    "fine": ("✓", "green"),
}


def print_checkup(found: Checkup, summary: str, out: Console) -> None:
    """All of it."""
    answer, style = _ANSWERS[found.exit_code]
    out.print(Text(answer, style))
    if summary:
        out.print(Text(f"{summary[0].upper()}{summary[1:]}."))
    for grade, title in (("wrong", ""), ("blind", "What a verdict needs"), ("note", "Not seen here"), ("fine", "")):
        checks = [one for one in found.checks if one.grade == grade]
        if checks:
            out.print()
        if checks and title:
            out.print(Text(title, "bold"))
        for one in checks:
            _print(one, out)


def _print(one: Check, out: Console) -> None:
    sign, style = _SIGNS[one.grade]
    out.print(Text.assemble((f"  {sign} ", style), f"{one.name}: {plain(one.text)}"))
    if one.hint:
        out.print(Text(f"    {plain(one.hint)}", "dim"))


def document(found: Checkup) -> dict[str, Any]:
    """`necroscope.doctor/1`."""
    cost = {name: getattr(found, name) for name in ("cpu_share", "memory_bytes", "bytes_per_s", "hours")}
    made = {"schema": "necroscope.doctor/1", "checks": [asdict(one) for one in found.checks], **cost}
    safe: dict[str, Any] = valid(made)
    return safe
