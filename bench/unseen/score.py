"""Asks `why` about each recording, and compares the answer with what was written down before."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

TRUTHS = Path(__file__).with_name("TRUTHS.json")
_SCHEMAS = ("necroscope.why/1", "necroscope.why/2")


@dataclass(frozen=True, slots=True)
class Mark:
    """How good one answer was."""

    name: str
    mark: str
    """`right`, `abstained`, `wrong`, or `no answer`."""

    verdict: str
    cause: str
    subject: str
    confidence: float | None
    because: str


def truths() -> dict[str, dict[str, Any]]:
    """By name."""
    return {truth["name"]: truth for truth in json.loads(TRUTHS.read_text())["incidents"]}


def judge(truth: dict[str, Any], played: dict[str, Any], answer: dict[str, Any]) -> Mark:
    """No cause where none is right, or one in which all is: `right`. None, or nobody to act on: `abstained`."""
    verdict, cause = answer["verdict"], answer["cause"]
    if cause is None:
        good = truth["no_cause"] and verdict in truth["verdicts"]
        because = "" if good else f"verdict {verdict}, nothing named"
        return Mark(truth["name"], "right" if good else "abstained", verdict, "", "", None, because)
    subject = cause["subject"]
    faults = _faults(truth, played, cause)
    if faults:
        mark = "wrong"
    elif subject is None or verdict not in truth["verdicts"]:
        mark, faults = "abstained", [f"verdict {verdict}, subject {subject}"]
    else:
        mark = "right"
    shown = f"{subject['kind']} {subject['name']}" if subject else ""
    return Mark(truth["name"], mark, verdict, cause["kind"], shown, cause["confidence"], "; ".join(faults))


def _faults(truth: dict[str, Any], played: dict[str, Any], cause: dict[str, Any]) -> list[str]:
    if not truth["causes"]:
        return ["there is no cause to be named"]
    subject, process, cpu = cause["subject"], cause["process"], cause["cpu"]
    cpus = [number % played["cpus"] for number in truth["cpus"]]
    checks = (
        (any(re.fullmatch(form, cause["kind"]) for form in truth["causes"]), f"cause {cause['kind']}"),
        (subject is None or _is_one(subject, truth["subjects"]), f"subject {subject}"),
        (process is None or _of(process["name"], truth["processes"]), f"process {process}"),
        (process is None or not _twin(process, truth, played), f"the other process of that name: {process}"),
        (cpu is None or cpu in cpus, f"core {cpu}"),
    )
    return [fault for good, fault in checks if not good]


def _is_one(subject: dict[str, str], accepted: list[dict[str, str]]) -> bool:
    return any(subject["kind"] == one["kind"] and re.search(one["name"], subject["name"]) for one in accepted)


def _of(name: str, forms: list[str]) -> bool:
    return not forms or any(re.fullmatch(form, name) for form in forms)


def _twin(process: dict[str, Any], truth: dict[str, Any], played: dict[str, Any]) -> bool:
    return bool(played["guilty"]) and process["pid"] is not None and process["pid"] not in played["guilty"]


def ask(store: Path) -> dict[str, Any] | None:
    """What `why` says of a recording; None: nothing."""
    command = [sys.executable, "-m", "necroscope", "why", "--store", str(store), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        return None
    return answer if answer.get("schema") in _SCHEMAS else None


def score(recordings: Path, to: Path | None) -> int:
    """Prints a table; 1 when an answer is wrong or missing. An archive of recordings is unpacked for that."""
    if recordings.is_dir():
        return _score(recordings, to)
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(recordings) as archive:
            archive.extractall(folder, filter="data")
        return _score(Path(folder), to)


def _score(folder: Path, to: Path | None) -> int:
    known, marks, answers = truths(), [], {}
    for beside in sorted(folder.glob("*/played.json")):
        name = beside.parent.name
        answer = answers[name] = ask(beside.parent / "store")
        if answer is None:
            marks.append(Mark(name, "no answer", "", "", "", None, "why printed no verdict"))
        else:
            marks.append(judge(known[name], json.loads(beside.read_text()), answer))
        print(_line(marks[-1]), flush=True)
    total = summary(marks)
    print("  ".join(f"{name} {value}" for name, value in total.items()))
    if to is not None:
        document = {"schema": "necroscope.unseen-score/1", **total, "runs": [asdict(mark) for mark in marks]}
        to.write_text(json.dumps({**document, "answers": answers}, indent=1) + "\n")
    return 1 if total["wrong"] or total["no answer"] else 0


def _line(mark: Mark) -> str:
    sure = "" if mark.confidence is None else f"{mark.confidence:.2f}"
    named = f"{mark.verdict}  {mark.cause}  {mark.subject}"
    return f"{mark.name:22} {mark.mark:10} {sure:5} {named}  {mark.because}".rstrip()


def summary(marks: list[Mark]) -> dict[str, float]:
    """How many of each, and the Brier score of the causes that were named."""
    count = {kind: sum(mark.mark == kind for mark in marks) for kind in ("right", "abstained", "wrong", "no answer")}
    named = [(mark.confidence, mark.mark != "wrong") for mark in marks if mark.confidence is not None]
    brier = sum((sure - good) ** 2 for sure, good in named) / max(1, len(named))
    worst = max((sure for sure, good in named if not good), default=0.0)
    return {"runs": len(marks), **count, "Brier": round(brier, 4), "most sure of a wrong one": worst}
