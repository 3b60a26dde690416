"""Which agents a fleet allows, by whom and until when; and what on a node is not allowed, or overdue for a review."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fnmatch import fnmatchcase
from typing import Any

from necroscope.errors import BadInput
from necroscope.vocabulary.conclusions.audit import Audited, Breach

SCHEMA = "necroscope.policy/1"
_HINT = "docs/audit.md describes a policy; `necroscope audit --write-policy FILE` writes one to fill in"
# Started by what needs them, or made by systemd itself.
_BY_OTHERS = ("static", "generated", "transient")
_KEYS = {"name", "kind", "owner", "reason", "review"}


@dataclass(frozen=True, slots=True)
class Allowed:
    """One rule: a pattern of names, who answers for it, why it is allowed, and when somebody looks at it again."""

    name: str
    kind: str
    owner: str
    reason: str
    review: date

    def covers(self, one: Audited) -> bool:
        """Whether it is about a unit or container."""
        subject = one.workload.subject
        return self.kind == subject.kind and fnmatchcase(subject.name, self.name)


def parse_policy(text: str, name: str) -> list[Allowed]:
    """The rules of a file; `BadInput` names what is wrong with it."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{name} is not TOML: {error}.", _HINT) from error
    rows = table.get("agent", [])
    if table.get("schema") != SCHEMA or not isinstance(rows, list):
        raise BadInput(f"{name} is no policy: its schema is not {SCHEMA}.", _HINT)
    return [_allowed(row, f"{name}: agent {number}") for number, row in enumerate(rows, 1)]


def subject_to_policy(one: Audited) -> bool:
    """Whether a policy must allow it: it runs or a boot starts it, and neither the system nor the owner's containers
    need it to be there."""
    if one.role == "system" or one.judgement == "idle":
        return False
    if one.workload.container is not None and one.judgement == "needed" and one.role == "unknown":
        return False
    if one.workload.unit is not None and one.role == "unknown" and not one.workload.enabled:
        return one.judgement != "needed" and one.workload.unit.unit_file_state not in _BY_OTHERS
    return True


def breaches(rules: Sequence[Allowed], audited: Iterable[Audited], today: date) -> tuple[Breach, ...]:
    """What the rules do not allow, and rules that allow something without an owner or past their review."""
    found = []
    for one in audited:
        if not subject_to_policy(one):
            continue
        rule = next((rule for rule in rules if rule.covers(one)), None)
        subject = one.workload.subject
        if rule is None:
            role = one.title or one.role
            found.append(Breach("not-allowed", subject, f"no rule allows it (role: {role}; {one.judgement})"))
        elif not rule.owner or not rule.reason:
            lacks = " and ".join(word for word in ("owner", "reason") if not getattr(rule, word))
            found.append(Breach("incomplete", subject, f"the rule {rule.name} names no {lacks}"))
        elif rule.review < today:
            text = f"its review was due on {rule.review.isoformat()}: {rule.owner} answers for it ({rule.reason})"
            found.append(Breach("overdue", subject, text, rule.review))
    return tuple(found)


def stale(rules: Iterable[Allowed], audited: Sequence[Audited]) -> tuple[str, ...]:
    """Rules that nothing here matches."""
    return tuple(rule.name for rule in rules if not any(rule.covers(one) for one in audited))


def _allowed(row: Any, where: str) -> Allowed:
    if not isinstance(row, dict) or (unknown := set(row) - _KEYS):
        raise BadInput(f"{where} has something unknown: {min(unknown) if isinstance(row, dict) else row!r}.", _HINT)
    review = row.get("review")
    if isinstance(review, datetime) or not isinstance(review, date):
        raise BadInput(f"{where} has no review date, such as 2027-01-31 without quotes.", _HINT)
    texts = {key: row.get(key, "unit" if key == "kind" else "") for key in ("name", "kind", "owner", "reason")}
    if not all(isinstance(value, str) for value in texts.values()) or not texts["name"]:
        raise BadInput(f"{where}: name, kind, owner and reason are text, and name must be there.", _HINT)
    if texts["kind"] not in ("unit", "container"):
        raise BadInput(f"{where}: kind is unit or container.", _HINT)
    return Allowed(texts["name"], texts["kind"], texts["owner"].strip(), texts["reason"].strip(), review)
