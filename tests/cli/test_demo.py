"""`necroscope demo`: with root, real zombies that are gone afterwards; without, a captured host."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stage.program import Program


@pytest.mark.root
@pytest.mark.bpf
def test_with_root_it_makes_scans_and_cleans_up(necroscope: Program) -> None:
    ran = necroscope("demo")
    assert ran.code == 0
    assert re.search(r"220  /necroscope-lab-demo-[g-v]+/jobs/<id>", ran.out)
    assert "WARNING  zombie-memcg" in ran.out
    assert "all of them are gone" in ran.out
    places = ("/dev/shm", "/var/tmp", "/sys/fs/cgroup", "/sys/fs/cgroup/memory")
    leftovers = [path for place in places for path in Path(place).glob("necroscope-lab-demo-*")]
    assert leftovers == []


@pytest.mark.root
def test_without_rights_it_shows_a_captured_host(necroscope: Program) -> None:
    ran = necroscope("demo", before=("setpriv", "--bounding-set=-all", "--inh-caps=-all"))
    assert ran.code == 0
    assert "No zombies can be made here" in ran.out
    assert "68,680 tracked · 240 live · 68,440 zombies" in ran.out
