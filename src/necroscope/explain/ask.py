"""The questions: why did this symptom happen, why did all of them, which are there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from necroscope.clock import NS
from necroscope.config import Config
from necroscope.diagnose.hypotheses import Catalogue
from necroscope.errors import BadInput
from necroscope.explain.inconclusive import held_by, is_held, not_held
from necroscope.explain.known import Known
from necroscope.explain.unreported import Answer, unreported
from necroscope.query import extent
from necroscope.query.case.fixed_store import FixedStore
from necroscope.query.case.symptom import choose, complaint, symptoms_in
from necroscope.query.remembered import remembering
from necroscope.query.sealed import again
from necroscope.store.read.damage_noticed import noticing
from necroscope.store.read.reader import Snapshot, Store
from necroscope.vocabulary.case import Case
from necroscope.vocabulary.event import Event, Window
from necroscope.vocabulary.verdict import Complaint, Group, Verdict

# What several drivers and watchdogs say of one incident comes within seconds: one verdict is enough for all of it.
_SAME_INCIDENT_NS = 5 * NS


def symptoms_of(store: Store) -> list[Event]:
    """What counts as a symptom, oldest first."""
    return again(lambda: symptoms_in(store.snapshot()))


def explain(
    store: Store,
    config: Config | None = None,
    *,
    at_ns: int | None = None,
    event: int | str | None = None,
    known: Catalogue | None = None,
) -> Verdict:
    """Why the latest symptom happened, or that nearest to a moment, or an event by id or kind.

    Without a symptom in the verdict, nobody can say whether there was one: the recording does not hold that moment, or
    cannot be read. `BadInput` for an event that does not exist and for an empty store.
    """
    return answer(store, config, at_ns=at_ns, event=event, known=known).verdict


def case_of(
    store: Store,
    config: Config | None = None,
    *,
    at_ns: int | None = None,
    event: int | str | None = None,
    known: Catalogue | None = None,
) -> Case:
    """The case that the same question rests on; `BadInput` where there is none, as without a symptom."""
    found = answer(store, config, at_ns=at_ns, event=event, known=known)
    if found.case is None:
        raise BadInput("There is no symptom, and so no case of one.", "name a moment with --at, or an event")
    return found.case


def answer(
    store: Store,
    config: Config | None = None,
    *,
    at_ns: int | None = None,
    event: int | str | None = None,
    known: Catalogue | None = None,
) -> Answer:
    """The verdict, and the case that it rests on."""
    with noticing() as found, remembering():
        made = again(lambda: _answer(FixedStore(store), Known.of(config, known), at_ns, event))
    return replace(made, verdict=replace(made.verdict, notes=_with(made.verdict.notes, found)))


def explain_unreported(
    store: Store, config: Config | None = None, *, since_ns: int, known: Catalogue | None = None
) -> Verdict:
    """Starvation since a moment that nobody reported, whatever symptoms there are; `no-symptom` where there is none."""
    with noticing(), remembering():
        return again(lambda: _unreported(FixedStore(store), Known.of(config, known), since_ns))


def _unreported(store: FixedStore, known: Known, since_ns: int) -> Verdict:
    recorded, notes = _recorded(store.snapshot())
    return unreported(store, (max(since_ns, recorded[0]), recorded[1]), known, notes).verdict


def _with(notes: Iterable[str], noticed: Iterable[str]) -> tuple[str, ...]:
    """The notes of an answer, and of whatever else was left out on the way to it."""
    own = tuple(notes)
    return (*own, *(one for one in noticed if not any(one in note for note in own)))


def _answer(store: FixedStore, known: Known, at_ns: int | None, event: int | str | None) -> Answer:
    snapshot = store.snapshot()
    recorded, notes = _recorded(snapshot)
    symptom = choose(snapshot, recorded, at_ns, event, notes)
    if symptom is None:
        return unreported(store, recorded, known, notes)
    if symptom.asked and not is_held(symptom.at_ns, held := held_by(snapshot, recorded, notes)):
        return Answer(not_held(symptom.at_ns, held, notes))
    read = known.case(store, symptom, recorded)
    case = replace(read, notes=tuple(dict.fromkeys((*notes, *read.notes))))
    return Answer(known.verdict(case), case)


def _recorded(snapshot: Snapshot) -> tuple[Window, list[str]]:
    """First and last moment of the recording, and what of it cannot be read."""
    notes = [f"{note}; what came before it was looked at" for note in snapshot.notes]
    recorded = extent.recorded(snapshot, notes)
    if recorded is None:
        raise BadInput("The store is empty.", "record first (`necroscope record`), or give another --store")
    return recorded, notes


def explain_all(
    store: Store,
    config: Config | None = None,
    *,
    most: int = 200,
    known: Catalogue | None = None,
    notes: list[str] | None = None,
) -> tuple[Group, ...]:
    """Every symptom (of too many, the latest), grouped where they share a cause; the oldest group first.

    `notes` gets what could not be read: symptoms may be missing then.
    """
    with noticing() as noticed, remembering():
        found, read_notes = again(lambda: _explain_all(FixedStore(store), Known.of(config, known), most))
    if notes is not None:
        notes += _with(read_notes, noticed)
    return found


def _explain_all(store: FixedStore, known: Known, most: int) -> tuple[tuple[Group, ...], list[str]]:
    snapshot = store.snapshot()
    recorded, notes = _recorded(snapshot)
    groups: dict[object, list[tuple[Complaint, Verdict]]] = {}
    verdict: Verdict | None = None
    for one in symptoms_in(snapshot, notes=notes)[-most:]:
        symptom = complaint(one)
        if verdict is None or verdict.symptom is None or one.at_ns - verdict.symptom.at_ns > _SAME_INCIDENT_NS:
            verdict = known.verdict(known.case(store, symptom, recorded, others=False))
        groups.setdefault(_key(verdict), []).append((symptom, verdict))
    made = tuple(_group(members) for members in groups.values())
    return made, list(dict.fromkeys((*notes, *(note for group in made for note in group.verdict.notes))))


def _key(verdict: Verdict) -> object:
    cause = verdict.cause
    return (cause.kind, cause.subject) if cause is not None else verdict.verdict


def _group(members: list[tuple[Complaint, Verdict]]) -> Group:
    best = max((verdict for _, verdict in members), key=lambda one: one.cause.confidence if one.cause else 0.0)
    return Group(best, tuple(symptom for symptom, _ in members))
