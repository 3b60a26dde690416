"""No name steers a verdict: with everything in it renamed, a recorded incident has the same cause."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from necroscope.explain import explain
from necroscope.store.read.reader import Store
from necroscope.store.redact.neutral_names import Names
from necroscope.vocabulary.verdict import Cause, Verdict
from stage.incidents import INCIDENTS, called, renamed, unpacked

pytestmark = pytest.mark.slow

KEPT = sorted(path for path in INCIDENTS.glob("*.ncb") if json.loads(path.with_suffix(".json").read_text())["cause"])


class Swapped(Names):
    """Everything keeps its name, but some names change places."""

    def __init__(self, pairs: dict[str, str]) -> None:
        super().__init__(b"")
        self._pairs = pairs | {new: old for old, new in pairs.items()}

    def token(self, sort: str, name: str) -> str:
        return self._pairs.get(name, name)


class Famous(Names):
    """Everybody is called like a program that people know, whatever it does."""

    def token(self, sort: str, name: str) -> str:
        words = ("kubelet", "dockerd", "containerd", "python3", "sshd", "systemd-oomd", "ecs-agent", "node_exporter")
        number = int(super().token(sort, name).rpartition("-")[2], 16)
        return f"{words[number % len(words)]}-{number:x}"


@pytest.fixture(scope="module", params=KEPT, ids=lambda path: path.stem)
def incident(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A store, and what is true of it."""
    bundle: Path = request.param
    return unpacked(bundle, tmp_path_factory.mktemp("kept")), json.loads(bundle.with_suffix(".json").read_text("utf-8"))


def _cause(verdict: Verdict) -> Cause:
    assert verdict.cause is not None
    return verdict.cause


def test_there_are_incidents() -> None:
    assert KEPT


def test_a_kept_incident_is_explained(incident: tuple[Path, dict[str, Any]]) -> None:
    store, truth = incident
    cause = _cause(explain(Store(store)))
    assert (cause.kind, cause.cpu) == (truth["cause"], truth["cpu"])
    assert cause.subject is not None
    assert {"kind": cause.subject.kind, "name": cause.subject.name} == truth["subject"]
    assert cause.process is not None
    assert cause.process.name == truth["process"]["name"]


@pytest.mark.parametrize("names", [Names(b"other names"), Famous(b"famous names")], ids=["neutral", "famous"])
def test_other_names_have_the_same_verdict(incident: tuple[Path, dict[str, Any]], tmp_path: Path, names: Names) -> None:
    store, truth = incident
    before = explain(Store(store))
    after = explain(Store(renamed(store, tmp_path / "renamed", names)))
    old, new = _cause(before), _cause(after)
    assert new.subject is not None
    assert {"kind": new.subject.kind, "name": new.subject.name} == called(truth["subject"], names)
    assert (new.kind, new.cpu, new.confidence) == (old.kind, old.cpu, old.confidence)
    assert old.process is not None
    assert new.process is not None
    assert (new.process.name, new.process.pid) == (names.thread(old.process.name), old.process.pid)
    assert after.verdict == before.verdict
    assert [one.kind for one in after.links] == [one.kind for one in before.links]
    # A rival may be a process: then its name comes after the word.
    assert [one.hypothesis.split()[0] for one in after.tested] == [one.hypothesis.split()[0] for one in before.tested]


def test_a_culprit_and_a_bystander_that_swap_names_do_not_swap_roles(
    incident: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    store, truth = incident
    if not truth["decoys"]:
        pytest.skip("this incident has no bystander")
    names = Swapped({truth["process"]["name"]: truth["decoys"][0]})
    cause = _cause(explain(Store(renamed(store, tmp_path / "swapped", names))))
    assert cause.process is not None
    assert (cause.process.name, cause.process.pid) == (truth["decoys"][0], truth["process"]["pid"])
    assert (cause.kind, cause.cpu) == (truth["cause"], truth["cpu"])
