"""What was learnt is kept for one perf, kernel and boot, and only its owner is believed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from necroscope.sense.perf.launch.remembered import Remembered, forget, recall, remember

NS = 1_000_000_000
FOUND = Remembered("/usr/bin/perf", "1:2:3:4", "5.4.0-150", "boot", ("build-ids", "cgroups"), 100 * NS)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    remember(tmp_path / "perf-options.json", FOUND)
    return tmp_path / "perf-options.json"


def test_it_comes_back_and_only_its_owner_can_write_it(kept: Path) -> None:
    assert recall(kept, "5.4.0-150", "boot", 101 * NS) == FOUND
    assert kept.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in kept.parent.iterdir()] == [kept.name]


@pytest.mark.parametrize(
    ("kernel", "boot_id", "now_ns"),
    [
        ("5.15.0-1", "boot", 101 * NS),
        ("5.4.0-150", "another boot", 101 * NS),
        ("5.4.0-150", "boot", 99 * NS),
        ("5.4.0-150", "boot", (100 + 86_400) * NS),
    ],
)
def test_not_for_another_kernel_boot_or_day(kept: Path, kernel: str, boot_id: str, now_ns: int) -> None:
    assert recall(kept, kernel, boot_id, now_ns) is None


@pytest.mark.parametrize(
    "change", [{"lacks": "cgroups"}, {"lacks": [1]}, {"format": 2}, {"at_ns": "now"}, {"perf": None}, {"kernel": []}]
)
def test_damage_is_as_good_as_nothing(kept: Path, change: dict[str, object]) -> None:
    kept.write_text(json.dumps({**json.loads(kept.read_text()), **change}))
    assert recall(kept, "5.4.0-150", "boot", 101 * NS) is None


@pytest.mark.parametrize("text", ["", "[]", "{", "null", "{}" * 4000])
def test_nonsense_is_as_good_as_nothing(kept: Path, text: str) -> None:
    kept.write_text(text)
    assert recall(kept, "5.4.0-150", "boot", 101 * NS) is None


def test_a_file_that_others_may_write_and_a_link_are_not_believed(kept: Path) -> None:
    kept.chmod(0o622)
    assert recall(kept, "5.4.0-150", "boot", 101 * NS) is None
    kept.chmod(0o600)
    link = kept.with_name("link.json")
    link.symlink_to(kept)
    assert recall(link, "5.4.0-150", "boot", 101 * NS) is None


def test_it_is_replaced_and_forgotten(kept: Path) -> None:
    remember(kept, replace(FOUND, lacks=()))
    found = recall(kept, "5.4.0-150", "boot", 101 * NS)
    assert found is not None
    assert found.lacks == ()
    forget(kept)
    forget(kept)
    assert recall(kept, "5.4.0-150", "boot", 101 * NS) is None


def test_a_folder_that_is_not_there_is_no_error(tmp_path: Path) -> None:
    remember(tmp_path / "nowhere" / "perf-options.json", FOUND)
    assert list(tmp_path.iterdir()) == []
