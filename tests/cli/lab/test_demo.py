"""`necroscope demo`: the incident for real and explained, or the one that the package ships."""

from __future__ import annotations

import re
import time
from importlib import resources
from pathlib import Path

import pytest

from necroscope.lab.catalogue import find
from necroscope.lab.runner import SHOWN, missing
from stage.program import Program

LIMIT_BYTES = 2_000_000


@pytest.mark.root
@pytest.mark.bpf
@pytest.mark.systemd
@pytest.mark.timeout(300)
def test_with_root_the_incident_is_made_and_explained(necroscope: Program) -> None:
    if lacking := missing(find("seeds-incident")):
        pytest.skip(f"needs {'; '.join(lacking)}")
    began = time.monotonic()
    ran = necroscope("demo", "--seed", "1", "--disposable-machine", timeout_s=280)
    assert ran.code == 0, ran.err
    assert "cannot be made here" not in ran.out
    truth = re.search(r"The truth: zombie-memcg by unit (\S+\.service), on core (\d+) was", ran.out)
    assert truth is not None, ran.out
    unit, core = truth.groups()
    assert re.search(r"ROOT CAUSE FOUND\s+zombie-memcg", ran.out)
    assert f"Root cause: unit {unit}" in ran.out
    assert f"core {core} was starved for" in ran.out
    if "another run goes on here" not in ran.out:
        assert time.monotonic() - began < 120
    assert not list(Path("/tmp").glob(f"{SHOWN}*"))


@pytest.mark.root
def test_without_rights_the_shipped_incident_is_explained(necroscope: Program) -> None:
    ran = necroscope("demo", before=("setpriv", "--bounding-set=-all", "--inh-caps=-all"))
    assert ran.code == 0, ran.err
    assert "The incident cannot be made here" in ran.out
    assert re.search(r"ROOT CAUSE FOUND\s+zombie-memcg", ran.out)


def test_the_shipped_incident_is_small_and_explained(necroscope: Program) -> None:
    bundle = resources.files("necroscope.lab").joinpath("incident.ncb")
    assert len(bundle.read_bytes()) < LIMIT_BYTES
    ran = necroscope("demo", "--shipped")
    assert ran.code == 0, ran.err
    assert re.search(r"ROOT CAUSE FOUND\s+zombie-memcg", ran.out)
    assert re.search(r"Root cause: unit unit-[0-9a-f]+\.service", ran.out)
