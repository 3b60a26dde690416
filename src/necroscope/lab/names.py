"""Plausible names without a meaning: a rule that learned one would learn nothing."""

from __future__ import annotations

import random

# words read best as words
_FIRST = (  # noqa: SIM905
    "amber ashen basic brisk calm civic coral crisp dusty early fleet frank fresh gentle grand hasty humid "
    "inner ivory jolly keen late level light loyal lunar mellow merry mild minor misty noble north novel ocean "
    "olive outer pale plain prime proud quick quiet rapid rough round royal rural sharp sleek slow solid south "
    "spare steep still stout sunny swift tidy upper urban vivid warm white wide young"
).split()
_SECOND = (  # noqa: SIM905
    "acorn anchor apron arrow aspen badge barge basin beacon birch bison board brook cabin canal candle canyon "
    "cedar chalk clover comet copper crane creek dome dove drum eagle ember fern field finch flint forge fox "
    "gate glade grove harbor hazel heron hill iris ivy jade kettle lake lamp larch ledge lily linen lodge lynx "
    "maple marsh meadow mill moss oak orchid otter owl pearl pebble pine plum pond quail quarry raven reed "
    "ridge river robin sage shore slate spruce stone stork swan thorn tide timber tower trail tulip vale wharf "
    "willow wren"
).split()
_COMM_BYTES = 15
_DEVICES = ("eth0", "eth1", "ens5", "ens6", "enp0s31", "enp3s0f0", "eno1", "bond0p1")


class Names:
    """Draws names, each once."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._drawn: set[str] = set()

    def draw(self, kind: str = "process") -> str:
        """A name of this kind: `process` (at most 15 bytes), `unit` (a service), `slice`, `timer`, `container`,
        `cgroup`, `node`, `file` or `device`."""
        if kind == "device":
            return self._rng.choice(_DEVICES)
        tail = {"unit": ".service", "slice": ".slice", "timer": ".timer"}.get(kind, "")
        # a dash in the name of a slice would put it below another slice
        between = "" if kind in ("slice", "node") else self._rng.choice(("-", "-", "", "_") if not tail else ("-", ""))
        while True:
            name = f"{self._rng.choice(_FIRST)}{between}{self._rng.choice(_SECOND)}"
            if name not in self._drawn and len(name) <= _COMM_BYTES:
                self._drawn.add(name)
                return name + tail
