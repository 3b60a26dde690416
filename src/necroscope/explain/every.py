"""Every symptom of a recording, by cause; where nobody reported any, what went wrong all the same."""

from __future__ import annotations

from dataclasses import dataclass

from necroscope.config import Config
from necroscope.diagnose.hypotheses import Catalogue
from necroscope.explain.ask import explain, explain_all
from necroscope.store.read.reader import Store
from necroscope.vocabulary.verdict import Group


@dataclass(frozen=True, slots=True)
class Every:
    """Groups of symptoms, and what of the recording could not be read. No groups, but notes: nobody can tell."""

    groups: tuple[Group, ...]
    notes: tuple[str, ...]


def every_symptom(store: Store, config: Config, known: Catalogue) -> Every:
    """What nobody reported, and complaints that no core causes, are not nothing."""
    notes: list[str] = []
    groups = explain_all(store, config, known=known, notes=notes)
    if groups or notes:
        return Every(groups, tuple(notes))
    whole = explain(store, config, known=known)
    if whole.inconclusive:
        return Every((), tuple(f"not known: {one.what}" for one in whole.missing))
    return Every((Group(whole, (whole.symptom,)),) if whole.symptom is not None else (), ())
