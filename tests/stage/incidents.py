"""Recorded incidents: small stores of the lab, with what is true of them, their names replaced.

    tests/incidents/NAME.ncb    a bundle of the whole recording
    tests/incidents/NAME.json   cause, cpu, subject and process, in the bundle's names

To keep another one: python tests/stage/incidents.py FOLDER NAME, of a folder with `store` and `truth.json`.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from necroscope.query.extent import extent
from necroscope.sense.host import RECORDED
from necroscope.store.bundle.archive import pack, unpack
from necroscope.store.bundle.excerpt import excerpt
from necroscope.store.bundle.recording import MOST_BYTES, entries
from necroscope.store.read.reader import Store
from necroscope.store.redact.neutral_names import Names
from necroscope.store.redact.rows import Redactor

INCIDENTS = Path(__file__).parents[1] / "incidents"
_EVER = (0, (1 << 63) - 2)


def unpacked(bundle: Path, folder: Path) -> Path:
    """The store in a bundle."""
    unpack(bundle, folder)
    return folder / RECORDED.strip("/") / "store"


def renamed(store: Path, folder: Path, names: Names) -> Path:
    """A copy of a store in which everything bears another name."""
    excerpt(Store(store), _EVER, folder, Redactor(names), lambda done: None, MOST_BYTES)
    return folder


def called(subject: dict[str, Any] | None, names: Names) -> dict[str, Any] | None:
    """What a subject is called in such a copy."""
    if subject is None:
        return None
    kind, name = subject["kind"], subject["name"]
    change = {"unit": names.unit, "process": names.thread, "cgroup": names.path}
    new = change[kind](name) if kind in change else names.token(kind, name)
    return {**subject, "name": new}


def keep(folder: Path, name: str, key: bytes = b"kept") -> Path:
    """Keep an incident of the lab."""
    truth, names = json.loads((folder / "truth.json").read_text("utf-8")), Names(key)
    process = truth.get("process")
    kept = {
        "scenario": truth["scenario"],
        "cause": truth["cause"],
        "cpu": truth["cpu"],
        "subject": called(truth.get("subject"), names),
        "process": None if process is None else {**process, "name": names.thread(process["name"])},
        "decoys": [names.thread(one["name"]) for one in truth.get("decoys", ()) if one["kind"] == "process"],
    }
    target = INCIDENTS / f"{name}.ncb"
    with tempfile.TemporaryDirectory() as scratch:
        redactor = Redactor(names)
        store = Store(folder / "store")
        window = extent(store.snapshot())
        made = excerpt(store, _EVER, Path(scratch) / "store", redactor, lambda done: None, MOST_BYTES)
        pack(entries(made, window, redactor), target)
    (INCIDENTS / f"{name}.json").write_text(json.dumps(kept, indent=2) + "\n", "utf-8")
    return target


if __name__ == "__main__":
    keep(Path(sys.argv[1]), sys.argv[2])
