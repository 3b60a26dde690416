"""Which perf is run: that of the path, else those that distributions keep; never one that others could have written."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.errors import Unavailable
from necroscope.sense.perf.launch.binaries import binaries, binary, options_of
from stage.perf_shim import OLDER, UBUNTU, Shim


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A node without a perf on its path."""
    monkeypatch.setenv("NECROSCOPE_PATH", "/nowhere")
    return tmp_path


def test_the_one_for_this_kernel_comes_first_then_the_newest(node: Path) -> None:
    for place in (
        "usr/lib/linux-tools-4.15.0-20/perf",
        "usr/lib/linux-tools-5.4.0-90/perf",
        "usr/lib/linux-tools-5.4.0-150/perf",
        "usr/lib/linux-hwe-5.15-tools-5.15.0-56/perf",
        "usr/bin/perf_5.10",
    ):
        Shim().write(node / place)
    release = node / "usr/lib/linux-tools/5.4.0-90-generic"
    release.mkdir(parents=True)
    (release / "perf").symlink_to("../../linux-tools-5.4.0-90/perf")
    found = [Path(one.path).relative_to(node) for one in binaries("5.4.0-90-generic", node)]
    assert [str(path) for path in found] == [
        "usr/lib/linux-tools/5.4.0-90-generic/perf",
        "usr/lib/linux-hwe-5.15-tools-5.15.0-56/perf",
        "usr/bin/perf_5.10",
        "usr/lib/linux-tools-5.4.0-150/perf",
        "usr/lib/linux-tools-4.15.0-20/perf",
    ], "the link and what it points to are one"
    assert Path(next(iter(binaries("5.10.0-30-amd64", node))).path).name == "perf_5.10"


def test_that_of_the_path_comes_before_all(node: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = Shim().write(node / "bin/perf")
    Shim().write(node / "usr/bin/perf_5.10")
    monkeypatch.setenv("NECROSCOPE_PATH", str(mine.parent))
    assert [Path(one.path).name for one in binaries("5.10.0", node)] == ["perf", "perf_5.10"]


def test_what_others_may_write_is_not_run(node: Path) -> None:
    perf = Shim().write(node / "usr/bin/perf_5.10")
    assert binary(str(perf)) is not None
    for place, mode in ((perf, 0o757), (perf.parent, 0o777)):
        before = place.stat().st_mode
        place.chmod(mode)
        assert list(binaries("5.10.0", node)) == [], (place, oct(mode))
        place.chmod(before)
    perf.chmod(0o644)
    assert binary(str(perf)) is None, "not a program"
    assert binary(str(node)) is None
    assert binary(str(node / "nothing")) is None


@pytest.mark.root
def test_another_users_program_is_not_run_by_root(node: Path) -> None:
    import os

    perf = Shim().write(node / "usr/bin/perf_5.10")
    os.chown(perf, 65534, 65534)
    assert binary(str(perf)) is None


def test_a_replaced_program_is_another_one(node: Path) -> None:
    path = node / "perf"
    before = binary(str(Shim().write(path)))
    path.unlink()
    after = binary(str(Shim(lacks=OLDER).write(path)))
    assert before is not None
    assert after is not None
    assert before.identity != after.identity


def test_the_options_are_those_of_its_help(node: Path) -> None:
    perf = binary(str(Shim(lacks=OLDER).write(node / "perf")))
    assert perf is not None
    assert {"event", "output", "switch-output"} <= options_of(perf)
    assert not set(OLDER) & options_of(perf)


def test_a_wrapper_that_refuses_says_so(node: Path) -> None:
    perf = binary(str(Shim(wrapper=UBUNTU).write(node / "perf")))
    assert perf is not None
    with pytest.raises(Unavailable, match="refuses to run for this kernel: WARNING: perf not found for kernel"):
        options_of(perf)


def test_a_program_that_is_no_perf_says_so(node: Path) -> None:
    path = node / "perf"
    path.write_text("#!/nowhere/interpreter\n")
    path.chmod(0o755)
    perf = binary(str(path))
    assert perf is not None
    with pytest.raises(Unavailable, match="does not run: No such file or directory"):
        options_of(perf)
