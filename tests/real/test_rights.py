"""The same scan with fewer rights and from inside a namespace: other methods, the same numbers, and it says so."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from necroscope.lab.actors.zombies import ZombieFarm, own_name
from necroscope.sense.cgroups.hierarchies import layout
from necroscope.sense.host import Host
from stage.program import Program

pytestmark = [pytest.mark.root, pytest.mark.bpf]

NO_RIGHTS = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")


def _memory(document: dict[str, Any]) -> dict[str, Any]:
    memory: dict[str, Any] = document["cgroups"]["memory"]
    return memory


def _unavailable(document: dict[str, Any]) -> set[str]:
    return {line["sensor"] for line in document["unavailable"]}


@pytest.mark.skipif(not shutil.which("setpriv"), reason="needs setpriv (Debian: util-linux)")
def test_without_capabilities_files_are_counted(necroscope: Program) -> None:
    with ZombieFarm(own_name("rights")) as farm:
        farm.make("tmpfs", 60, "jobs")
        named = [_memory(necroscope("scan", "--json").document)]
        document = necroscope("scan", "--json", before=NO_RIGHTS).document
        counted = _memory(document)
        named.append(_memory(necroscope("scan", "--json").document))
    assert [memory["counted_by"] for memory in named] == ["kernel-walk"] * 2
    assert counted["counted_by"] in ("proc-cgroups", "cgroup-stat")
    assert "memcg-names" in _unavailable(document)
    # others may come and go between the scans
    least, most = sorted(memory["zombies"] for memory in named)
    assert least - 3 <= counted["zombies"] <= most + 3
    assert counted["zombies"] >= 60
    assert "tmpfs" in {pin["kind"] for pin in counted["pinned_by"]} or counted["counted_by"] == "cgroup-stat"
    if counted["counted_by"] == "cgroup-stat":
        assert {"path": f"{farm.path}/jobs", "zombies": 60} in counted["by_parent"]


@pytest.mark.skipif(not shutil.which("unshare"), reason="needs unshare (Debian: util-linux)")
def test_inside_a_cgroup_namespace_it_says_whose_the_count_is(necroscope: Program) -> None:
    document = necroscope("scan", "--json", before=("unshare", "--cgroup")).document
    assert _memory(document)["host_wide"]
    assert any("cgroup namespace" in line["reason"] for line in document["unavailable"])
    document = necroscope("scan", "--json", before=("unshare", "--cgroup", *NO_RIGHTS)).document
    mount = layout(Host()).mount_of("memory")
    assert mount is not None
    if not mount.v2:
        assert _memory(document)["zombies"] is None
        assert not [finding for finding in document["findings"] if finding["id"] == "zombie-memcg"]


def test_two_looks_measure_growth(necroscope: Program) -> None:
    with ZombieFarm(own_name("growth")) as farm:
        script = Path(sys.executable).parent / "necroscope"
        scan = subprocess.Popen([script, "scan", "--for", "4s", "--json"], stdout=subprocess.PIPE, text=True)
        time.sleep(1.5)
        farm.make("tmpfs", 90)
        out, _ = scan.communicate(timeout=60)
    document = json.loads(out)
    assert 4.0 <= document["window_s"] < 8.0
    memory = _memory(document)
    assert memory["growth_basis"] == "measured"
    assert memory["growth_per_hour"] / 3600 * document["window_s"] >= 80


def test_watching_prints_one_document_a_line_until_interrupted() -> None:
    script = Path(sys.executable).parent / "necroscope"
    command = [script, "scan", "--watch", "--interval", "200ms", "--json"]
    watch = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert watch.stdout is not None
        lines = [watch.stdout.readline() for _ in range(3)]
    finally:
        watch.send_signal(signal.SIGINT)
        err = watch.communicate(timeout=20)[1]
    assert [line[:33] for line in lines] == ['{"schema": "necroscope.scan/1", "'] * 3
    assert watch.returncode in (0, 1)
    assert err == ""
