"""The obvious remedy is wrong: the symptom is gone, the leak goes on, and `validate` says so.

Other work on the machine may keep the incident from showing, or starve a core: then another seed is played.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.lab.catalogue import find
from necroscope.lab.runner import missing
from stage.program import Program

pytestmark = [pytest.mark.root, pytest.mark.bpf, pytest.mark.systemd, pytest.mark.timeout(600)]


def test_ending_the_process_on_the_core_is_not_fixing(necroscope: Program, tmp_path: Path) -> None:
    if lacking := missing(find("killed-walker")):
        pytest.skip(f"needs {'; '.join(lacking)}")
    for seed in (1, 2, 3):
        store = tmp_path / str(seed)
        arguments = ("--seed", seed, "--for", "20s", "--store", store, "--disposable-machine", "-q")
        happened = necroscope("lab", "run", "killed-walker", *arguments, timeout_s=280).code == 0
        ran = necroscope("validate", "--store", store / "store", "--for", "15s", "--json", timeout_s=120)
        document = ran.document
        assert (ran.code, document["answers"]["growth"]["outcome"]) == (1, "fail"), document["answers"]
        if happened and document["healed_only"]:
            break
    assert document["change"]["text"].startswith("change: ended ")
    assert "still leaves cgroups behind" in document["answers"]["growth"]["claim"]
    assert document["healed_only"]
    assert document["leaker"]["kind"] == "unit"
    text = necroscope("validate", "--store", store / "store", "--for", "15s", timeout_s=120).out
    assert text.startswith("NOT FIXED")
