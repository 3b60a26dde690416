"""The files that an audit writes, as TOML: a baseline of the golden image, a policy to be filled in."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from necroscope.show.plain import plain
from necroscope.vocabulary.conclusions.audit import Audited

_HEAD = "# Written by `necroscope audit`; docs/audit.md describes it.\n"


def baseline_toml(rows: Iterable[tuple[str, str, str]]) -> str:
    """A baseline, from kind, name and state."""
    entries = (f"\n[[{kind}]]\nname = {quoted(name)}\nstate = {quoted(state)}\n" for kind, name, state in rows)
    return f'{_HEAD}schema = "necroscope.baseline/1"\n{"".join(entries)}'


def policy_toml(audited: Iterable[Audited], review: date) -> str:
    """A policy that allows what is there, without owners and reasons: nobody answers for it yet."""
    rows = []
    for one in audited:
        subject = one.workload.subject
        comment = f"# {plain(one.title or 'no role is known')}; {one.judgement}"
        rows.append(
            f"\n[[agent]]\n{comment}\nname = {quoted(_literal(subject.name))}\nkind = {quoted(subject.kind)}\n"
            f'owner = ""\nreason = ""\nreview = {review.isoformat()}\n'
        )
    return f'{_HEAD}schema = "necroscope.policy/1"\n{"".join(rows)}'


def quoted(text: str) -> str:
    """A TOML string; what cannot be printed, and broken UTF-8, is written out first."""
    escaped = plain(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _literal(name: str) -> str:
    """A name as a pattern of itself."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in name)
