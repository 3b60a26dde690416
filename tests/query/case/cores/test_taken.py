"""Where somebody took a core that was busy before and after as well."""

from __future__ import annotations

from pathlib import Path

from necroscope.clock import NS
from necroscope.query.case.cores.taken import taken
from stage.incident import NET_RX, Played, at


def _stretches(node: Played, folder: Path) -> list[tuple[int, int]]:
    found = taken(node.write(folder).snapshot(), 0, (at(10), at(50) - 1))
    return [((low - at(0)) // NS, (high + 1 - at(0)) // NS) for low, high in found]


def _crowd(node: Played, begin: int, end: int) -> None:
    for number in range(5):
        node.does(0, begin, end, 0.2, f"crowd{number}", 10 + number, cgroup=f"/{number}")


def test_a_newcomer(tmp_path: Path) -> None:
    node = Played(1, 60)
    _crowd(node, 0, 30)
    node.does(0, 30, 36, 0.95, "taker", 5, cgroup="/t")
    _crowd(node, 36, 60)
    assert _stretches(node, tmp_path) == [(30, 36)]


def test_who_was_there_all_along_took_nothing(tmp_path: Path) -> None:
    node = Played(1, 60)
    node.does(0, 0, 60, 0.9, "always", 5, cgroup="/t")
    assert _stretches(node, tmp_path) == []


def test_interrupts_take_cores_too(tmp_path: Path) -> None:
    node = Played(1, 60)
    _crowd(node, 0, 30)
    for number in range(5):
        node.does(0, 30, 34, 0.19, f"crowd{number}", 10 + number, cgroup=f"/{number}", frames=NET_RX, mode="softirq")
    _crowd(node, 34, 60)
    assert _stretches(node, tmp_path) == [(30, 34)]
