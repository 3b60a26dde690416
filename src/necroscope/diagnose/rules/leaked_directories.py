"""Cgroup directories left behind: a different disease from zombies, with a different cure."""

from __future__ import annotations

from collections.abc import Iterator

from necroscope.config import ZombieLimits
from necroscope.model import Census, Evidence, Finding, Subject
from necroscope.quantity import count


def leaked_directories(census: Census, limits: ZombieLimits) -> Iterator[Finding]:
    """Finds cgroup directories under machine-made names that hold no process and were never removed."""
    if not census.leaked_directories or census.leaked_directories < limits.leaked_directories:
        return
    worst = census.leaked_families[0]
    evidence = (
        Evidence(
            f"{count(family.directories)} like {family.pattern}, such as {family.examples[0]}",
            census.source,
            family.directories,
            "directories",
        )
        for family in census.leaked_families[:3]
        if family.examples
    )
    yield Finding(
        "leaked-directories",
        "warning",
        f"{count(census.leaked_directories)} cgroup directories without a process were not removed",
        Subject("cgroup", worst.pattern),
        tuple(evidence),
        ("find who made them (a runtime or agent that exits before cleaning up); an empty one is removed with rmdir",),
    )
