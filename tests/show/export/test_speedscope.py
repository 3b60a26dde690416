"""speedscope's JSON, read by the rules of its schema and by its own importer."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from necroscope.query.select import Select
from necroscope.show.export import speedscope
from necroscope.show.export.tracks import rows
from stage.exported import IDLE, opened_in_speedscope, source, total_ns, working

_REQUIRED = {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}


def document(store: Path, select: Select | None = None) -> dict[str, Any]:
    file = io.BytesIO()
    speedscope.write(source(store, select), file)
    made: dict[str, Any] = json.loads(file.getvalue())
    return made


def check(made: dict[str, Any]) -> None:
    """What the schema asks for."""
    assert made["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = made["shared"]["frames"]
    assert all(isinstance(frame["name"], str) and set(frame) <= {"name", "file"} for frame in frames)
    for profile in made["profiles"]:
        assert set(profile) == _REQUIRED
        assert profile["unit"] in ("none", "nanoseconds")
        assert len(profile["samples"]) == len(profile["weights"])
        assert profile["endValue"] - profile["startValue"] == sum(profile["weights"])
        assert all(0 <= frame < len(frames) for sample in profile["samples"] for frame in sample)


def test_totals_of_all_threads_and_of_each(store: Path) -> None:
    made = document(store)
    check(made)
    everything, *threads = made["profiles"]
    assert everything["endValue"] == total_ns(working())
    assert sum(profile["endValue"] for profile in threads) == total_ns(working())
    assert len(threads) == len({(row.tid, row.comm) for row in working()})
    assert {profile["unit"] for profile in made["profiles"]} == {"nanoseconds"}


def test_frames_have_names_and_modules_outermost_first(store: Path) -> None:
    made = document(store)
    frames = made["shared"]["frames"]
    spelled = {tuple(frames[one]["name"] for one in sample) for sample in made["profiles"][0]["samples"]}
    assert ("worker", "main", "read", "do_syscall_64", "vfs_read") in spelled
    assert {"name": "vfs_read", "file": "[kernel]"} in frames
    assert not any(sample[-1] == IDLE[-1][0] for sample in spelled)


def test_other_events_count_samples(cycles: Path) -> None:
    made = document(cycles)
    check(made)
    assert made["profiles"][0]["unit"] == "none"
    assert made["profiles"][0]["endValue"] == len(working())


def test_summed_threads_say_so(store: Path) -> None:
    made = json.loads("".join(speedscope.pieces(rows(source(store), most_ordered=10), "x")))
    check(made)
    assert all(profile["name"].endswith("summed") for profile in made["profiles"])
    assert made["profiles"][0]["endValue"] == total_ns(working())


def test_nothing_is_a_valid_document(store: Path) -> None:
    made = document(store, Select((0, 1)))
    check(made)
    assert [profile["samples"] for profile in made["profiles"]] == [[]]


@pytest.mark.parametrize("kind", ["store", "cycles"])
def test_speedscope_opens_it(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    store: Path = request.getfixturevalue(kind)
    file = tmp_path / "window.speedscope.json"
    with file.open("wb") as out:
        speedscope.write(source(store), out)
    ours, theirs = json.loads(file.read_text("utf-8")), opened_in_speedscope(file)
    assert [(one["name"], one["unit"], one["endValue"]) for one in theirs["profiles"]] == [
        (one["name"], one["unit"], one["endValue"]) for one in ours["profiles"]
    ]
    assert {frame["name"] for frame in theirs["shared"]["frames"]} == {
        frame["name"] for frame in ours["shared"]["frames"]
    }
