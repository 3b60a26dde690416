"""The child that answers: right, and within its limits whatever it is given."""

from __future__ import annotations

import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from necroscope.config import Config
from necroscope.record.verdicts import child
from necroscope.store.bundle.archive import unpack
from necroscope.store.bundle.recording import recording

INCIDENTS = Path(__file__).parents[2] / "incidents"


def _question(store: Path, event: str | None = "nic-reset", **more: Any) -> dict[str, Any]:
    limits = {name: asdict(getattr(Config(), name)) for name in ("zombies", "crash_loop", "cpu")}
    own = {"store": str(store), "event": event, "since_ns": 0, "limits": limits}
    return own | {"cpu_s": 10.0, "memory_bytes": 300_000_000} | more


@pytest.fixture(scope="module")
def incident(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, bundle = tmp_path_factory.mktemp("incident"), INCIDENTS / "gpu-training.ncb"
    unpack(bundle, folder)
    return recording(folder, bundle)


def test_an_incident_is_explained_within_the_limits(incident: Path) -> None:
    found = child.ask(_question(incident, None), threading.Event())
    assert found.trouble == ""
    found = child.ask(_question(incident, _latest(incident)), threading.Event())
    assert (found.trouble, found.why is not None) == ("", True)
    assert found.why is not None
    assert found.why["schema"] == "necroscope.why/2"
    assert found.why["verdict"] in ("explained", "partly-explained")
    assert found.title
    assert 0.1 < found.cpu_s < 10
    assert found.rss_bytes < 300_000_000


def test_too_little_memory_is_a_trouble_and_not_a_crash(incident: Path) -> None:
    found = child.ask(_question(incident, _latest(incident), memory_bytes=100_000_000), threading.Event())
    assert found.why is None
    assert found.trouble


def test_too_much_cpu_time_ends_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    burner = _program(
        tmp_path,
        "import json, sys; from necroscope.record.verdicts.worker import limited; "
        "limited(json.load(sys.stdin)['cpu_s'], 300_000_000)\nwhile True: pass",
    )
    monkeypatch.setattr(child, "_COMMAND", burner)
    found = child.ask(_question(tmp_path, cpu_s=1.0), threading.Event())
    assert found.trouble == "it took more than 1 s of CPU time"
    assert 0.5 < found.cpu_s < 3


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        ("print('not json')", "it ended with 0"),
        ("import sys; sys.exit('the disk is on fire')", "the disk is on fire"),
        ("import os; os.kill(os.getpid(), 9)", "it ended with -9"),
        ("print('{}')", "it ended with 0"),
        ("import sys; sys.stdout.write('x' * (8 << 20))", "it was not answered within 60 s"),
    ],
)
def test_answers_that_are_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, trouble: str) -> None:
    monkeypatch.setattr(child, "_COMMAND", _program(tmp_path, text))
    assert child.ask(_question(tmp_path), threading.Event()).trouble == trouble


def test_one_that_hangs_is_ended_and_one_that_is_given_up_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(child, "_COMMAND", _program(tmp_path, "import time; time.sleep(100)"))
    monkeypatch.setattr(child, "WALL_S", 0.5)
    began_s = time.monotonic()
    assert child.ask(_question(tmp_path), threading.Event()).trouble == "it was not answered within 0 s"
    stop = threading.Event()
    stop.set()
    child.ask(_question(tmp_path), stop)
    assert time.monotonic() - began_s < 8


def test_a_store_that_is_none_is_a_trouble(tmp_path: Path) -> None:
    assert "Bad" in child.ask(_question(tmp_path), threading.Event()).trouble


def _latest(store: Path) -> str:
    from necroscope.explain import symptoms_of
    from necroscope.store.read.reader import Store

    return str(symptoms_of(Store(store))[-1].id)


def _program(folder: Path, text: str) -> tuple[str, ...]:
    import sys

    path = folder / "program.py"
    path.write_text(text)
    return (sys.executable, str(path))
