"""One registry: every sensor stands in it, `scan` and the recorder read what it says, and the documents show it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

from necroscope import sense
from necroscope.config import Config
from necroscope.record.plan import fast_sensors, slow_sensors
from necroscope.scan.scanner import Scanner
from necroscope.sense.host import Host
from necroscope.sense.registry import EACH_SECOND, SENSORS, SLOW, Registered, recorded_every, scanned
from necroscope.sense.sensor import Sensor

DOCS = Path(__file__).parents[2] / "docs"


def _sensors_of_the_package() -> set[type]:
    modules = (
        importlib.import_module(one.name)
        for one in pkgutil.walk_packages(sense.__path__, f"{sense.__name__}.")
        # the decoders' inner loops are C, and no modules of Python
        if not one.name.endswith("._native")
    )
    return {
        kind
        for module in modules
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if kind.__module__ == module.__name__ and all(hasattr(kind, part) for part in ("name", "signals", "read"))
    } - {Sensor}


def test_every_sensor_stands_in_it_once() -> None:
    listed = [one.sensor for one in SENSORS]
    assert set(listed) == _sensors_of_the_package()
    assert len(listed) == len(set(listed))


def test_whatever_stands_in_it_is_read_by_somebody() -> None:
    assert [one.name for one in SENSORS if one.recorded_every_s is None and not one.scanned] == []
    assert {one.recorded_every_s for one in SENSORS} == {EACH_SECOND, SLOW, None}


def test_the_recorder_reads_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("necroscope.record.plan.load", object)
    assert [type(one) for one in fast_sensors()] == list(recorded_every(EACH_SECOND))
    assert [type(one) for one in slow_sensors()] == list(recorded_every(SLOW))


def test_gpus_are_not_read_without_their_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("necroscope.record.plan.load", lambda: None)
    assert {one.name for one in fast_sensors()} == {kind.name for kind in recorded_every(EACH_SECOND)} - {"gpu"}


def test_the_scan_reads_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[type[Sensor]] = []
    monkeypatch.setattr("necroscope.scan.scanner.look", lambda sensors, host: read.extend(map(type, sensors)) or [])
    Scanner(Host(tmp_path), Config()).scan(0.0)
    assert read == list(scanned())


@pytest.mark.parametrize("one", SENSORS, ids=lambda one: one.sensor.__name__)
def test_the_documents_say_how_often_it_is_read(one: Registered) -> None:
    (row,) = [
        line for line in (DOCS / "signals.md").read_text("utf-8").splitlines() if f"`{one.sensor.__name__}`" in line
    ]
    recorded = {EACH_SECOND: "each second", SLOW: "every 10 s", None: "no"}[one.recorded_every_s]
    assert row.startswith(f"| {one.name} | {recorded} | {'yes' if one.scanned else 'no'} |")


def test_the_recipe_leads_to_it() -> None:
    recipe = (DOCS / "add-a-sensor.md").read_text("utf-8")
    assert "`src/necroscope/sense/registry.py`" in recipe
    assert "SENSORS` of `src/necroscope/scan" not in recipe
