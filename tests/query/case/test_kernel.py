"""The release of the kernel that ran, where the recording tells it."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.diagnose.hypotheses import catalogue
from necroscope.explain import case_of
from stage.incident import SMAPS, Played, nic_reset


@pytest.mark.parametrize("release", ["5.4.0-169-generic", ""])
def test_the_release_is_that_of_the_label(tmp_path: Path, release: str) -> None:
    node = Played(2, 90, kernel=release)
    node.usual()
    node.does(1, 60, 67, 1.0, "reader", 9, frames=SMAPS, mode="system", cgroup="/r")
    nic_reset(node, 70, 1)
    assert case_of(node.write(tmp_path)).kernel == release


def test_what_the_running_kernel_has_outgrown_is_no_remedy() -> None:
    walk = catalogue().of("zombie-memcg")
    assert walk is not None
    actions = {kernel: [one.action for one in walk.remedies_for(None, kernel)] for kernel in ("", "5.4.0-169", "6.1.0")}
    assert "newer-kernel" in actions[""]
    assert "newer-kernel" in actions["5.4.0-169"]
    assert "newer-kernel" not in actions["6.1.0"]
