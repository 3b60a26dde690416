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
def test_with_root_the_incident_is_made_explained_stopped_and_undone(necroscope: Program, tmp_path: Path) -> None:
    if lacking := missing(find("seeds-incident")):
        pytest.skip(f"needs {'; '.join(lacking)}")
    began, kept = time.monotonic(), tmp_path / "kept"
    ran = necroscope("demo", "--seed", "1", "--keep", kept, "--disposable-machine", timeout_s=280)
    assert ran.code == 0, ran.err
    assert "cannot be made here" not in ran.out
    truth = re.search(r"The truth: zombie-memcg by unit (\S+\.service), on core (\d+) was", ran.out)
    assert truth is not None, ran.out
    unit, core = truth.groups()
    assert re.search(r"ROOT CAUSE FOUND\s+zombie-memcg", ran.out)
    assert f"Root cause: unit {unit}" in ran.out
    assert f"core {core} was starved for" in ran.out
    name = re.search(r"APPLIED   (fix-[0-9a-f]{8})", ran.out)
    assert name is not None, ran.out
    assert ran.out.count(f"PLAN  disable-unit {unit}") == 1
    assert f"UNDONE   {name[1]}" in ran.out
    if "another run goes on here" not in ran.out:
        assert time.monotonic() - began < 180
    assert not list(Path("/tmp").glob(f"{SHOWN}*"))
    assert f"  necroscope events --store {kept / 'store'}\n" in ran.out
    assert necroscope("events", "--store", kept / "store", "--kind", "nic-tx-timeout").code == 1


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
    where = re.search(
        r"The recording is (\S+incident\.ncb)\. Look into it:\n {2}necroscope events --bundle (\S+)\n", ran.out
    )
    assert where is not None
    assert where[1] == where[2] == str(bundle)


def test_nothing_can_be_kept_of_the_shipped_incident(necroscope: Program, tmp_path: Path) -> None:
    ran = necroscope("demo", "--shipped", "--keep", tmp_path)
    assert ran.code == 2
    assert "--keep" in ran.err
