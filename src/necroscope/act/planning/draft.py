"""A plan in the making: its id, its time, the node that is looked at."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from necroscope import clock
from necroscope.act.node.doors import Node
from necroscope.act.state_folder import VALID_S
from necroscope.vocabulary.model import Subject, SubjectKind
from necroscope.vocabulary.plan import Condition, Plan, Step


@dataclass(frozen=True)
class Draft:
    """What all plans have in common. `recorder` is the store whose writer is protected; `budget_s` how long the kernel
    may reclaim."""

    node: Node
    action: str
    reason: str = "by hand"
    recorder: Path | None = None
    budget_s: float = 2.0
    then: tuple[str, ...] = ()
    id: str = field(default_factory=lambda: f"fix-{secrets.token_hex(4)}")
    boot_id: str = ""

    def same_boot(self) -> Condition:
        """That the node was not booted since."""
        return Condition("boot", "", self.boot_id or self.node.boot.id())

    def made(self, kind: SubjectKind, name: str, steps: Sequence[Step], notes: Iterable[str] = ()) -> Plan:
        """The plan, which holds for fifteen minutes in this boot."""
        now_ns = clock.now().realtime_ns
        return Plan(
            self.id,
            self.action,
            Subject(kind, name),
            now_ns,
            now_ns + VALID_S * clock.NS,
            self.same_boot().value,
            tuple(steps),
            self.reason,
            tuple(notes),
            self.then,
        )
