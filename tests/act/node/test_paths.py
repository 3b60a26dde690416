"""States of paths: what is there can be compared and put back, nothing is followed, nothing half-made is seen."""

from __future__ import annotations

import os
import signal
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.act.node.paths import (
    KEPT_MOST,
    LivePaths,
    bytes_of,
    can_be_put_back,
    file_state,
    folder_state,
    link_state,
)
from necroscope.errors import Unavailable
from necroscope.vocabulary.plan import ABSENT
from stage.acted_node import in_a_child


@given(st.binary(max_size=300), st.integers(0, 0o7777))
def test_a_state_holds_the_bytes(data: bytes, mode: int) -> None:
    assert bytes_of(file_state(data, mode)) == data


@pytest.mark.root
def test_what_was_taken_away_is_put_back_byte_for_byte(tmp_path: Path) -> None:
    file, link, folder = tmp_path / "f", tmp_path / "l", tmp_path / "d"
    file.write_bytes(b"\x00\xff bytes")
    file.chmod(0o640)
    os.chown(file, 12, 34)
    link.symlink_to("../some where")
    folder.mkdir(0o750)
    paths = LivePaths()
    states = {str(one): paths.state(str(one)) for one in (file, link, folder)}
    assert states[str(link)] == link_state("../some where")
    for path in states:
        paths.set(path, ABSENT)
        assert paths.state(path) == ABSENT
        assert not os.path.lexists(path)
    for path, state in states.items():
        paths.set(path, state)
        assert paths.state(path) == state
    assert file.read_bytes() == b"\x00\xff bytes"
    assert (file.stat().st_mode & 0o7777, file.stat().st_uid, file.stat().st_gid) == (0o640, 12, 34)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d", "f", "l"]


def test_what_somebody_made_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"theirs")
    own = (os.geteuid(), os.getegid())
    for state in (file_state(b"ours", 0o644, own), folder_state(0o755, own), link_state("x")):
        with pytest.raises(Unavailable, match="cannot be changed"):
            LivePaths().set(str(path), state)
    assert path.read_bytes() == b"theirs"
    assert [one.name for one in tmp_path.iterdir()] == ["f"]


def test_a_folder_that_is_not_empty_stays(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "theirs").touch()
    with pytest.raises(Unavailable):
        LivePaths().set(str(tmp_path / "d"), ABSENT)
    assert (tmp_path / "d" / "theirs").exists()


def test_no_link_is_followed_on_the_way(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "f").write_bytes(b"x")
    (tmp_path / "way").symlink_to("real")
    paths = LivePaths()
    with pytest.raises(Unavailable):
        paths.set(str(tmp_path / "way" / "g"), link_state("x"))
    assert paths.state(str(tmp_path / "way" / "f")) == ABSENT
    with pytest.raises(Unavailable, match="no plain path"):
        paths.state(str(tmp_path / "real" / ".." / "real" / "f"))


def test_another_root_is_not_left(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "f").write_bytes(b"inside")
    assert bytes_of(LivePaths(str(tmp_path)).state("/etc/f")) == b"inside"
    (tmp_path / "out").symlink_to("/etc")
    assert LivePaths(str(tmp_path)).state("/out/passwd") == ABSENT


def test_what_is_too_large_can_be_compared_and_not_put_back(tmp_path: Path) -> None:
    path = tmp_path / "big"
    path.write_bytes(b"a" * (KEPT_MOST + 1))
    before = LivePaths().state(str(path))
    assert not can_be_put_back(before)
    path.write_bytes(b"a" * KEPT_MOST + b"b")
    assert LivePaths().state(str(path)) != before
    path.write_bytes(b"a" * KEPT_MOST)
    assert can_be_put_back(LivePaths().state(str(path)))


def test_what_a_kill_left_beside_a_path_is_tidied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, own = str(tmp_path / "f"), (os.geteuid(), os.getegid())
    paths = LivePaths()
    with monkeypatch.context() as patch:
        patch.setattr(os, "link", lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
        assert in_a_child(partial(paths.set, path, file_state(b"x", 0o600, own))) == signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 1
    paths.tidy(path)
    assert list(tmp_path.iterdir()) == []
    paths.set(path, file_state(b"x", 0o600, own))
    assert Path(path).read_bytes() == b"x"


def test_a_file_is_removed_by_its_identity_only(tmp_path: Path) -> None:
    paths, file = LivePaths(), tmp_path / "f"
    file.write_bytes(b"x")
    status = file.stat()
    identity = f"{os.major(status.st_dev)}:{os.minor(status.st_dev)}:{status.st_ino}"
    (tmp_path / "way").symlink_to(".")
    assert not paths.unlink(str(file), identity + "0")
    assert not paths.unlink(str(tmp_path / "way" / "f"), identity)
    assert file.exists()
    assert paths.unlink(str(file), identity)
    assert not file.exists()
