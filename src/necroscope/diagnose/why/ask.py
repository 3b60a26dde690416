"""The questions: why did this symptom happen, why did all of them, which are there."""

from __future__ import annotations

from collections.abc import Sequence

from necroscope.clock import NS
from necroscope.config import Config
from necroscope.diagnose.mechanism import Mechanism
from necroscope.diagnose.why.explain import explain_symptom
from necroscope.diagnose.why.scene import Held, span_of
from necroscope.diagnose.why.symptom import choose, complaint, symptoms_in
from necroscope.diagnose.why.unreported import unreported
from necroscope.errors import BadInput
from necroscope.model import Complaint, Group, Verdict
from necroscope.query.sealed import again
from necroscope.store.reader import Store
from necroscope.store.tables import Event

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
    known: Sequence[Mechanism] | None = None,
) -> Verdict:
    """Why the latest symptom happened, or that nearest to a moment, or an event by id or kind.

    `BadInput` for an event that does not exist and for an empty store.
    """
    return again(lambda: _explain(Held(store), config or Config(), at_ns, event, _known(known)))


def _explain(
    store: Held, config: Config, at_ns: int | None, event: int | str | None, known: Sequence[Mechanism]
) -> Verdict:
    snapshot = store.snapshot()
    recorded = span_of(snapshot)
    if recorded is None:
        raise BadInput("The store is empty.", "record first (`necroscope record`), or give another --store")
    symptom = choose(snapshot, recorded, at_ns, event)
    if symptom is None:
        return unreported(store, recorded, config, known)
    return explain_symptom(store, symptom, recorded, config, known)


def explain_all(
    store: Store, config: Config | None = None, *, most: int = 200, known: Sequence[Mechanism] | None = None
) -> tuple[Group, ...]:
    """Every symptom (of too many, the latest), grouped where they share a cause; the oldest group first."""
    return again(lambda: _explain_all(Held(store), config or Config(), most, _known(known)))


def _explain_all(store: Held, config: Config, most: int, known: Sequence[Mechanism]) -> tuple[Group, ...]:
    snapshot = store.snapshot()
    recorded = span_of(snapshot)
    if recorded is None:
        raise BadInput("The store is empty.", "record first (`necroscope record`), or give another --store")
    groups: dict[object, list[tuple[Complaint, Verdict]]] = {}
    verdict: Verdict | None = None
    for one in symptoms_in(snapshot)[-most:]:
        if verdict is None or verdict.symptom is None or one.at_ns - verdict.symptom.at_ns > _SAME_INCIDENT_NS:
            verdict = explain_symptom(store, complaint(one), recorded, config, known, others=False)
        groups.setdefault(_key(verdict), []).append((complaint(one), verdict))
    return tuple(_group(members) for members in groups.values())


def _key(verdict: Verdict) -> object:
    cause = verdict.cause
    return (cause.kind, cause.subject) if cause is not None else verdict.verdict


def _group(members: list[tuple[Complaint, Verdict]]) -> Group:
    best = max((verdict for _, verdict in members), key=lambda one: one.cause.confidence if one.cause else 0.0)
    return Group(best, tuple(symptom for symptom, _ in members))


def _known(given: Sequence[Mechanism] | None) -> Sequence[Mechanism]:
    if given is not None:
        return given
    from necroscope.diagnose.mechanisms import mechanisms

    return mechanisms()
