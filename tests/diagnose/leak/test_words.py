"""The words about a leak."""

from __future__ import annotations

from necroscope.diagnose.leak.words import pinned
from necroscope.vocabulary.leak_facts import LeakFacts, Leftovers, Pins


def said(*pins: Pins) -> str | None:
    evidence = pinned(LeakFacts(zombies=Leftovers(pins=pins)))
    return None if evidence is None else evidence.text


def test_what_pins_most_is_said_and_what_cannot_be_told_is_said_to_be_so() -> None:
    assert said(Pins("tmpfs", 3), Pins("unknown", 1)) == "tmpfs pins 75 % of the zombies that could be named"
    assert said(Pins("tmpfs", 1), Pins("unknown", 3)) == (
        "what pins 75 % of the zombies that could be named could not be seen"
    )
    assert said(Pins("tmpfs")) is None
