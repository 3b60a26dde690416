from __future__ import annotations

import pytest

from necroscope.sense.log.symptom_event import symptom_event
from necroscope.vocabulary.model import Symptom


def _of(kind: str, cpu: int | None = None, task: str = "", device: str = "") -> str:
    return symptom_event(Symptom(kind, 1, 0, "x", 1, cpu=cpu, task=task, device=device)).subject


@pytest.mark.parametrize(
    ("subject", "kind", "cpu", "task", "device"),
    [
        ("eth0", "nic-reset", 3, "swapper", "eth0"),
        ("cpu3", "soft-lockup", 3, "reader", ""),
        ("importer", "oom-kill", 0, "importer", ""),
        ("cpu0", "oom-kill", 0, "", ""),
        ("reader", "hung-task", None, "reader", ""),
    ],
)
def test_whose_trouble_it_is(subject: str, kind: str, cpu: int | None, task: str, device: str) -> None:
    """Memory runs out for a task: the core on which another one noticed is chance."""
    assert _of(kind, cpu, task, device) == subject
