"""Values survive a capture, and nothing else gets in."""

from __future__ import annotations

import json

import pytest

from necroscope.errors import Unavailable
from necroscope.sense.replay import decode, encode
from necroscope.vocabulary.model import Census, Family, ParentCount, Pin, Reading, Sample, UnitState, Unseen

READING = Reading(
    samples=(Sample("memcg_zombies", 3.0, ("/docker",)),),
    records=(
        Census(
            mode="v1",
            tracked=5,
            live=2,
            zombies=3,
            counted_by="kernel-walk",
            growth_per_hour=1.5,
            by_parent=(ParentCount("/docker", 3),),
            families=(Family("/docker/<id>", "/docker", 3, ("/docker/ab",), (Pin("tmpfs", 4096, ("/dev/shm/x",)),)),),
        ),
        UnitState("leaky.service", "activating", "auto-restart", "exit-code", 32, exit_status=1),
    ),
    unseen=(Unseen("nic", "no device"),),
)


def test_a_reading_survives_json() -> None:
    assert decode(Reading, json.loads(json.dumps(encode(READING)))) == READING


def test_a_newer_capture_may_hold_more() -> None:
    value = encode(READING)
    value["something"] = {"new": True}
    value["records"][0]["colour"] = "blue"
    assert decode(Reading, value) == READING


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (("records", 0, "mode"), "v3"),
        (("records", 0, "zombies"), "3"),
        (("records", 0, "zombies"), True),
        (("records", 0, "by_parent"), "x"),
        (("records", 0, "by_parent"), [None]),
        (("records", 0, "is"), "Path"),
        (("records", 0), {}),
        (("samples", 0, "value"), None),
        (("records",), None),
    ],
)
def test_what_does_not_fit_is_unavailable(path: tuple[str | int, ...], wrong: object) -> None:
    value = json.loads(json.dumps(encode(READING)))
    inner = value
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = wrong
    with pytest.raises(Unavailable, match="cannot be read"):
        decode(Reading, value)
