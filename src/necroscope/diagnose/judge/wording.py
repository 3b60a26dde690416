"""Pieces of sentences that several links share."""

from __future__ import annotations

from necroscope.clock import NS
from necroscope.quantity import span
from necroscope.vocabulary.case import NamedCore, Run
from necroscope.vocabulary.verdict import Complaint


def when(symptom: Complaint, run: Run) -> str:
    """When a starvation ended, as seen from the symptom."""
    ago_s = (symptom.at_ns - run.to_ns) / NS
    return "up to the symptom" if ago_s <= 1 else f"until {span(ago_s)} before the symptom"


def named_core(one: NamedCore) -> str:
    """How it is known which core the complaint is about."""
    if one.said:
        return f"the message itself names core {one.cpu}"
    names = ", ".join(one.interrupts)
    return f"queue {one.queue} has the interrupt {names}, which goes to core {one.cpu}"


def by_chance(chance: float) -> str:
    """How unlikely it is, as statistics give it."""
    return "p < 0.001" if chance < 0.001 else f"p = {chance:.3f}"
