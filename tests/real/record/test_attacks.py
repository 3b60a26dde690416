"""The attack collection, some seconds of it: bounded, fair, telling. `make attack` runs ten minutes."""

from __future__ import annotations

import pytest

from attacks import ATTACKS, PROGRAMS
from attacks.campaign import run


def test_every_program_is_an_attack() -> None:
    assert sorted(path.stem for path in PROGRAMS.glob("*.py") if path.stem != "running") == sorted(
        one.name for one in ATTACKS
    )


@pytest.mark.root
@pytest.mark.timeout(600)
def test_an_unprivileged_user_neither_blinds_nor_grows_nor_reads_through_the_recorder() -> None:
    outcome = run(15.0, quiet_s=4.0)
    # A tenant has three seconds of parsing at once, of which this is too short to see the end.
    assert outcome.failures(cpu=0.45, kept=0.95) == []
    counts = dict(outcome.events)
    assert counts["symbols-refused"] >= 1
    assert counts["frames-unresolved"] >= 1
