"""Names come from the seed and fit where they go."""

from __future__ import annotations

import random

from necroscope.lab.names import Names

KINDS = ("process", "unit", "slice", "timer", "container", "cgroup", "node", "file")


def test_names_come_from_the_seed_and_never_twice() -> None:
    first, again, other = (Names(random.Random(seed)) for seed in (1, 1, 2))
    drawn = [first.draw(kind) for kind in KINDS * 20]
    assert drawn == [again.draw(kind) for kind in KINDS * 20]
    assert drawn != [other.draw(kind) for kind in KINDS * 20]
    assert len(set(drawn)) == len(drawn)


def test_names_fit_their_kind() -> None:
    names = Names(random.Random(3))
    for _ in range(100):
        assert len(names.draw("process").encode()) <= 15
        assert names.draw("unit").endswith(".service")
        assert "-" not in names.draw("slice").removesuffix(".slice")
        assert names.draw("node").isalpha()
