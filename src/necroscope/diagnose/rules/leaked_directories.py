"""Cgroup directories left behind: a different disease from zombies, with a different cure."""

from __future__ import annotations

from collections.abc import Iterator

from necroscope.config import ZombieLimits
from necroscope.diagnose.fact import Containers, Units
from necroscope.diagnose.leak import Leak, attribute, facts_of_scan, source
from necroscope.diagnose.leak.remedies import remedies, said
from necroscope.quantity import count
from necroscope.vocabulary.model import Census, Evidence, Finding, Subject


def leaked_directories(
    census: Census, limits: ZombieLimits, units: Units | None, containers: Containers | None
) -> Iterator[Finding]:
    """Finds cgroup directories under machine-made names that hold no process and were never removed."""
    if not census.leaked_directories or census.leaked_directories < limits.leaked_directories:
        return
    facts = facts_of_scan(census, units.items if units else None, containers.items if containers else None)
    leak = source(attribute(facts, "directories"))
    yield Finding(
        "leaked-directories",
        "warning",
        f"{count(census.leaked_directories)} cgroup directories without a process were not removed{_by(leak)}",
        leak.subject if leak is not None else Subject("cgroup", census.leaked_families[0].pattern),
        (*(leak.evidence if leak is not None else ()), *_families(census)),
        tuple(said(one) for one in remedies("directories", leak, below=_parent(census))),
    )


def _parent(census: Census) -> str:
    examples = census.leaked_families[0].examples
    return examples[0].rpartition("/")[0] if examples else ""


def _by(leak: Leak | None) -> str:
    return f", most of them below {leak.subject.kind} {leak.subject.name}" if leak is not None else ""


def _families(census: Census) -> Iterator[Evidence]:
    for family in census.leaked_families[:3]:
        if family.examples:
            text = f"{count(family.directories)} like {family.pattern}, such as {family.examples[0]}"
            yield Evidence(text, census.source, family.directories, "directories")
