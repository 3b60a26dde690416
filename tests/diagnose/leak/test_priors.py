"""No right answer hangs on one number of the table: each changed by a third, and nobody else is named."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from necroscope.diagnose.leak import attribute, source
from necroscope.diagnose.priors import PRIORS
from necroscope.query.extent import extent
from necroscope.query.leaks.facts import read_leak_facts
from necroscope.store.read.reader import Store
from necroscope.vocabulary.leak_facts import LeakFacts
from stage.incidents import INCIDENTS, unpacked

LEAKS = [
    path
    for path in sorted(INCIDENTS.glob("*.ncb"))
    if json.loads(path.with_suffix(".json").read_text("utf-8"))["cause"] == "zombie-memcg"
]
NUMBERS = [one.name for one in fields(PRIORS) if one.name.startswith("leak_")]


@cache
def _facts(bundle: Path) -> LeakFacts:
    with TemporaryDirectory() as folder:
        store = Store(unpacked(bundle, Path(folder)))
        recorded = extent(store.snapshot())
        return read_leak_facts(store, recorded[1], recorded, [])


def test_there_are_such_incidents() -> None:
    assert len(LEAKS) >= 5


@pytest.mark.parametrize("factor", [0.7, 1.0, 1.3])
@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_that_is_off_names_nobody_else(number: str, factor: float) -> None:
    value = getattr(PRIORS, number) * factor
    priors = replace(PRIORS, **{number: round(value) if isinstance(getattr(PRIORS, number), int) else value})
    for bundle in LEAKS:
        truth = json.loads(bundle.with_suffix(".json").read_text("utf-8"))["subject"]
        found = source(attribute(_facts(bundle), "zombies", priors), priors)
        assert found is not None, bundle.stem
        assert (found.subject.kind, found.subject.name) == (truth["kind"], truth["name"])
