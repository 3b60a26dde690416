"""Who suffers, and what they report: stalls, which go on the timeline as marks."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from necroscope.lab.actors.actors import Actor
from necroscope.vocabulary.event import Event

Mark = Callable[[Event], None]


@dataclass(slots=True)
class Victims:
    """Actors that print a line for each stall, each with the words for its mark."""

    mark: Mark
    stalls: list[dict[str, Any]] = field(default_factory=list)
    _actors: list[tuple[Actor, str, str, int | None]] = field(default_factory=list)

    def add(self, actor: Actor, kind: str, words: str, cpu: int | None = None) -> None:
        """`words` hold `{name}`, `{pid}` and `{seconds}`; `cpu` is where it suffers."""
        self._actors.append((actor, kind, words, cpu))

    def hear(self) -> None:
        """Take what they have reported since, and mark it."""
        for actor, kind, words, cpu in self._actors:
            for line in actor.listen():
                stall = json.loads(line)
                self.stalls.append({**stall, "kind": kind, "victim": actor.name, "pid": actor.pid})
                text = words.format(name=actor.name, pid=actor.pid, seconds=f"{stall['stalled_s']:.1f} s")
                mark = Event(stall["to_ns"], kind, "mark", actor.name, text, cpu=cpu, pid=actor.pid, task=actor.name)
                self.mark(replace(mark, stall_s=float(stall["stalled_s"])))

    def longest_s(self, kind: str) -> float:
        """The longest stall of a kind."""
        return max((stall["stalled_s"] for stall in self.stalls if stall["kind"] == kind), default=0.0)
