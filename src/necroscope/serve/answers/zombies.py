"""Zombies up to a moment: how many, whose, how they are called, what pins them, and how they grew against restarts."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from necroscope.clock import NS
from necroscope.query.extent import extent_of_all
from necroscope.query.leaks.facts import read_leak_facts
from necroscope.query.sealed import again
from necroscope.serve.answers.answer import Answer, document
from necroscope.serve.asked import Asked
from necroscope.serve.opened import Opened
from necroscope.vocabulary.leak_facts import LeakFacts, Leftovers

_FEW, _FAMILIES = 40, 60
_BEFORE_NS = 3600 * NS


def zombies(opened: Opened, asked: Asked) -> Answer:
    """The answer; `total` is null where nobody counted."""
    at_ns = asked.integer("at", 0, (1 << 63) - 1)
    recorded = extent_of_all(opened.whole()) or (at_ns - _BEFORE_NS, at_ns)
    notes: list[str] = []
    facts = again(lambda: read_leak_facts(opened.store, at_ns, recorded, notes))
    return document(
        {
            "schema": "necroscope.zombies/1",
            "at_ns": at_ns,
            "live": facts.live,
            **_left(facts.zombies),
            "directories": facts.directories.total,
            "restarts": [
                {"kind": one.kind, "name": one.name, "times": one.times, "at_ns": [at for at, _ in one.noticed][-_FEW:]}
                for one in facts.restarts[:_FEW]
            ],
            "owners": _owners(facts),
            "makers": [asdict(one) for one in facts.makers[:_FEW]],
            "notes": notes[:20],
        }
    )


def _left(left: Leftovers) -> dict[str, Any]:
    return {
        "total": left.total,
        "whole": left.whole,
        "looks": [list(one) for one in left.looks],
        "below": [asdict(one) for one in left.below[:_FEW]],
        "growth": [asdict(one) for one in left.growth[:_FEW]],
        "families": [asdict(one) for one in left.families[:_FAMILIES]],
        "pins": [asdict(one) for one in left.pins],
        "left_total": left.left_total,
    }


def _owners(facts: LeakFacts) -> list[dict[str, Any]]:
    """Units and containers with restarts, for comparison."""
    units: list[dict[str, Any]] = [
        {"kind": "unit", "name": one.name, "restarts": one.restarts, "grew": one.restarts - one.first_restarts}
        for one in facts.units
    ]
    containers: list[dict[str, Any]] = [
        {"kind": "container", "name": one.name, "restarts": one.restarts or 0, "grew": None} for one in facts.containers
    ]
    return sorted([*units, *containers], key=lambda one: -int(one["restarts"] or 0))[:_FEW]
