"""Who suffers, and what they tell: stalls, which go on the timeline as marks."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from necroscope.lab.cast import Actor

Mark = Callable[[str, str, str, int], None]


@dataclass(slots=True)
class Victims:
    """Actors that print a line for each stall, each with the words for its mark."""

    mark: Mark
    stalls: list[dict[str, Any]] = field(default_factory=list)
    _actors: list[tuple[Actor, str, str]] = field(default_factory=list)

    def add(self, actor: Actor, kind: str, words: str) -> None:
        """`words` hold `{name}`, `{pid}` and `{seconds}`."""
        self._actors.append((actor, kind, words))

    def hear(self) -> None:
        """Take what they have told since, and mark it."""
        for actor, kind, words in self._actors:
            for line in actor.listen():
                stall = json.loads(line)
                self.stalls.append({**stall, "kind": kind, "victim": actor.name, "pid": actor.pid})
                text = words.format(name=actor.name, pid=actor.pid, seconds=f"{stall['stalled_s']:.1f} s")
                self.mark(text, kind, actor.name, stall["to_ns"])

    def longest_s(self, kind: str) -> float:
        """The longest stall of a kind."""
        return max((stall["stalled_s"] for stall in self.stalls if stall["kind"] == kind), default=0.0)
