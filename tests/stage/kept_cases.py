"""Cases that are kept with what is true of them: incidents, and every one that was ever judged wrong.

tests/cases/NAME.case   what `necroscope why --save-case` wrote, with neutral names (`--redact`)
tests/cases/missed      those that are judged wrong still
tests/cases/NAME.json   cause, cpu, subject and process, in the case's names; cause null: nobody may be named. More
                        than one right answer: `also` lists others of the same form
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from necroscope.vocabulary import case_file
from necroscope.vocabulary.case import Case
from necroscope.vocabulary.verdict import Verdict

CASES = Path(__file__).parents[1] / "cases"
NAMES = sorted(path.stem for path in CASES.glob("*.case"))
MISSED = sorted(f"missed/{path.stem}" for path in (CASES / "missed").glob("*.case"))
"""Incidents that are judged wrong still."""


@cache
def kept(name: str) -> Case:
    """A kept case."""
    return case_file.load(CASES / f"{name}.case")


def truth(name: str) -> dict[str, Any]:
    """What is true of it."""
    found: dict[str, Any] = json.loads((CASES / f"{name}.json").read_text("utf-8"))
    return found


def outcome(verdict: Verdict, true: dict[str, Any]) -> str:
    """`right`, `wrong`, or `abstained`: nobody is named although somebody could have been."""
    cause = verdict.cause
    answers = [true, *true.get("also", ())]
    if cause is None:
        return "right" if any(one["cause"] is None for one in answers) else "abstained"
    subject = None if cause.subject is None else {"kind": cause.subject.kind, "name": cause.subject.name}
    if any((cause.kind, subject) == (one["cause"], one.get("subject")) for one in answers):
        return "right"
    half = subject is None and any(cause.kind == one["cause"] for one in answers)
    return "abstained" if half else "wrong"
