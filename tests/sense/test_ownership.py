"""Who could change what a path names."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from necroscope.errors import Unavailable
from necroscope.sense import ownership
from necroscope.sense.ownership import check_socket, privileged, weak_part

STRANGER = 12345


@pytest.fixture
def tool(tmp_path: Path) -> Path:
    (tmp_path / "bin").mkdir(mode=0o755)
    made = tmp_path / "bin" / "tool"
    made.write_text("")
    made.chmod(0o755)
    return made


def test_what_is_ones_own_or_roots_is_safe(tool: Path) -> None:
    assert weak_part(tool) == ""
    assert weak_part("/usr/bin/env") == ""
    assert weak_part("/") == ""


@pytest.mark.parametrize("mode", [0o757, 0o702])
def test_what_anybody_may_write_is_weak(tool: Path, mode: int) -> None:
    tool.chmod(mode)
    assert weak_part(tool) == str(tool)
    tool.chmod(0o755)
    tool.parent.chmod(mode)
    assert weak_part(tool) == str(tool.parent)


def test_in_a_sticky_folder_nobody_replaces_what_is_ours(tool: Path) -> None:
    tool.parent.chmod(0o1777)
    assert weak_part(tool) == ""


@pytest.mark.root
def test_other_users_and_their_groups_are_strangers(tool: Path) -> None:
    os.chown(tool, STRANGER, 0)
    assert weak_part(tool) == str(tool)
    os.chown(tool, 0, STRANGER)
    tool.chmod(0o775)
    assert weak_part(tool) == str(tool)
    os.chown(tool, 0, 0)
    assert weak_part(tool) == ""
    os.chown(tool.parent, STRANGER, 0)
    assert weak_part(tool) == str(tool.parent)


@pytest.mark.root
def test_a_strangers_folder_is_weak_although_it_is_sticky(tool: Path) -> None:
    os.chown(tool.parent, STRANGER, 0)
    tool.parent.chmod(0o1777)
    assert weak_part(tool) == str(tool.parent)


@pytest.mark.parametrize("text", ["{bin}/tool", "../bin/tool", "../bin/../bin/tool"])
def test_a_link_is_as_weak_as_what_it_leads_through(tool: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "other").mkdir(mode=0o755)
    link = tmp_path / "other" / "link"
    link.symlink_to(text.format(bin=tool.parent))
    assert weak_part(link) == ""
    tool.parent.chmod(0o757)
    assert weak_part(link).endswith("/bin")
    (tmp_path / "folder").symlink_to(tool.parent)
    assert weak_part(tmp_path / "folder" / "tool").endswith("/bin")


@pytest.mark.root
def test_a_strangers_link_is_weak(tmp_path: Path, tool: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tool)
    os.chown(link, STRANGER, 0, follow_symlinks=False)
    assert weak_part(link) == str(link)


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert weak_part(tmp_path / "a") in (str(tmp_path / "a"), str(tmp_path / "b"))


def test_links_of_the_kernel_are_followed_by_the_kernel(tool: Path) -> None:
    assert weak_part(f"/proc/self/root{tool}") == ""
    tool.chmod(0o757)
    assert weak_part(f"/proc/self/root{tool}").endswith("/tool")


def test_a_path_that_leads_nowhere_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        weak_part(tmp_path / "absent")


def test_a_socket_may_be_written_by_anybody_but_not_owned(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        path.chmod(0o666)
        check_socket(path)
        check_socket(tmp_path / "absent")
        tmp_path.chmod(0o777)
        with pytest.raises(Unavailable, match="may be changed by others than root"):
            check_socket(path)


@pytest.mark.root
def test_a_strangers_socket_is_not_asked(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        os.chown(path, STRANGER, 0)
        with pytest.raises(Unavailable, match=f"{path} may be changed"):
            check_socket(path)


@pytest.mark.parametrize(
    ("uid", "status", "more"),
    [
        (0, "", True),
        (7, "CapEff:\t0000000000000000\n", False),
        (7, "CapEff:\t0000004000000000\n", True),
        (7, "", False),
    ],
)
def test_privileges_are_root_or_capabilities(
    monkeypatch: pytest.MonkeyPatch, uid: int, status: str, more: bool
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    monkeypatch.setattr(ownership, "_own_file", lambda name: status)
    assert privileged() is more


def test_in_a_user_namespace_the_hosts_root_has_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 65534 not in ownership._owners()
    monkeypatch.setattr(ownership, "_own_file", lambda name: "0 1000 1\n")
    assert 65534 in ownership._owners()
