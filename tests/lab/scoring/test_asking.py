"""Asking at once: what is heard first, and that leaving ends it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from necroscope import clock
from necroscope.lab.environment.symptom_source import Symptom
from necroscope.lab.scoring import asking
from necroscope.lab.scoring.asking import OnCall, ask

CAUSE = {"kind": "user-hog"}


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "_PAUSE_S", 0.0)


@pytest.fixture
def symptom() -> Symptom:
    return Symptom("nic-reset", clock.now().realtime_ns, "eth0 reset")


def about(symptom: Symptom, cause: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"symptom": {"at": clock.iso(symptom.at_ns)}, "cause": cause}


def on_call(monkeypatch: pytest.MonkeyPatch, answers: list[dict[str, Any] | None]) -> OnCall:
    left = iter(answers)
    monkeypatch.setattr(asking, "ask", lambda store, started: (next(left), ""))
    return OnCall(Path("/nowhere"), lambda pid: None)


def test_a_cause_is_what_counts(monkeypatch: pytest.MonkeyPatch, symptom: Symptom) -> None:
    one = on_call(monkeypatch, [about(symptom), about(symptom, CAUSE)])
    one.ask(symptom)
    heard = one.finish()
    assert heard is not None
    assert heard.document == about(symptom, CAUSE)
    assert 0 <= heard.seconds < 10


def test_without_a_cause_the_first_answer_counts(monkeypatch: pytest.MonkeyPatch, symptom: Symptom) -> None:
    first = {**about(symptom), "verdict": "unexplained"}
    one = on_call(monkeypatch, [first, about(symptom), None])
    one.ask(symptom)
    heard = one.finish()
    assert heard is not None
    assert heard.document == first


def test_answers_about_another_symptom_are_none(monkeypatch: pytest.MonkeyPatch, symptom: Symptom) -> None:
    earlier = Symptom("nic-reset", symptom.at_ns - 5 * clock.NS, "eth0 reset")
    one = on_call(monkeypatch, [about(earlier, CAUSE), {"symptom": None, "cause": None}, None])
    one.ask(symptom)
    assert one.finish() is None


@pytest.mark.parametrize("patience_s", [0.2, 60.0])
def test_leaving_ends_the_question_and_so_does_too_long_an_answer(
    monkeypatch: pytest.MonkeyPatch, symptom: Symptom, patience_s: float
) -> None:
    monkeypatch.setattr(asking, "_PATIENCE_S", patience_s)
    pids: list[int] = []

    def slow(store: Path, started: Callable[[subprocess.Popen[str]], None]) -> tuple[None, str]:
        with subprocess.Popen(["sleep", "60"], text=True) as child:
            started(child)
            child.wait()
        return None, ""

    monkeypatch.setattr(asking, "ask", slow)
    one = OnCall(Path("/nowhere"), pids.append)
    one.ask(symptom)
    ends = clock.elapsed_s() + 10
    while not pids and clock.elapsed_s() < ends:
        clock.sleep(0.01)
    if patience_s > 1:
        one.leave()
    assert one.finish() is None
    assert clock.elapsed_s() < ends
    assert len(pids) == 1


def test_no_store_is_no_answer(tmp_path: Path) -> None:
    pids: list[int] = []
    document, complaint = ask(tmp_path / "nothing", started=lambda child: pids.append(child.pid))
    assert (document, complaint) == (None, f"{tmp_path}/nothing is no store.")
    assert len(pids) == 1


def test_what_lies_in_the_working_folder_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "necroscope").mkdir()
    (tmp_path / "necroscope" / "__init__.py").write_text("raise SystemExit('evil')")
    monkeypatch.chdir(tmp_path)
    assert ask(tmp_path / "absent")[1] == f"{tmp_path}/absent is no store."
