"""judge_validation(facts): the three answers. Nothing is read here."""

from __future__ import annotations

from collections.abc import Sequence

from necroscope.config import Config
from necroscope.diagnose.validate.growth import growth
from necroscope.diagnose.validate.measures import measures
from necroscope.diagnose.validate.residue import residue
from necroscope.diagnose.validate.symptoms import symptoms
from necroscope.vocabulary.conclusions.validation import Validation, ValidationFacts


def judge_validation(facts: ValidationFacts, config: Config, notes: Sequence[str] = ()) -> Validation:
    """What a change did, from both sides of it."""
    grew, leaker = growth(facts, config)
    rates = measures(facts)
    left = residue(facts, config)
    # Only where zombies, or directories, are what symptoms came from.
    gone = facts.at_symptom is not None and grew.outcome == left.outcome == "pass"
    answers = (grew, symptoms(facts, rates, gone), left)
    return Validation(facts, answers, rates, leaker, tuple(notes))
