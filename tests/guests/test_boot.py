"""How a guest is started."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from guests.boot import Disks, boot, command
from guests.fetching import Unfetchable
from guests.machines import MACHINES, Machine, machine
from guests.wheels import ROOT

from stage.processes import wait_for
from stage.recorders import alive

DISKS = Disks(Path("/k/vmlinuz"), Path("/k/initrd"), Path("/i/root"), Path("/i/job"), Path("/i/left"))


def asked(name: str) -> list[str]:
    return command(machine(name), DISKS, Path("/i/console"))


def test_names_are_unique() -> None:
    assert len({one.name for one in MACHINES}) == len(MACHINES)


def test_an_unknown_name_is_told_what_there_is() -> None:
    with pytest.raises(KeyError, match="there is no guest 'vax'; there are arm64-pmu, "):
        machine("vax")


@pytest.mark.parametrize(("name", "pmu"), [("arm64-pmu", "on"), ("arm64-no-pmu", "off")])
def test_arm64_has_counters_or_none(name: str, pmu: str) -> None:
    arguments = asked(name)
    assert arguments[0] == "qemu-system-aarch64"
    assert arguments[arguments.index("-cpu") + 1] == f"max,pauth-impdef=on,pmu={pmu}"


@pytest.mark.parametrize(("name", "v1"), [("amd64-6.1", False), ("amd64-6.1-v1", True), ("arm64-pmu", False)])
def test_the_kernel_is_told_its_cgroups_and_its_console(name: str, v1: bool) -> None:
    words = asked(name)[asked(name).index("-append") + 1].split()
    assert ("guest.cgroups=v1" in words, "cgroup_no_v1=all" in words) == (v1, not v1)
    assert words[0] == ("console=ttyAMA0" if name.startswith("arm64") else "console=ttyS0")
    assert ("clearcpuid=141" in words) == name.startswith("amd64")


def test_only_the_disk_for_what_is_left_is_written_to() -> None:
    drives = [one for one in asked("amd64-6.1") if one.startswith("file=/i/")]
    assert [one.rpartition("=")[2] for one in drives] == ["on", "on", "off"]
    assert [one for one in asked("amd64-6.1") if one.startswith("virtio-blk")] == [
        f"virtio-blk-pci,drive={name},serial={name}" for name in ("root", "job", "left")
    ]


def _shim(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Disks:
    """A program in QEMU's place."""
    (folder / "qemu-system-x86_64").write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    (folder / "qemu-system-x86_64").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    return Disks(folder / "kernel", folder / "initrd", folder / "root", folder / "job", folder / "left")


MACHINE = Machine("any", "amd64", "bookworm", "6.1")


def test_a_guest_that_does_not_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disks = _shim(tmp_path, monkeypatch, f"echo $$ > {tmp_path}/pid; exec sleep 600")
    ran = boot(MACHINE, disks, 1.0)
    assert not ran.ended
    assert ran.seconds < 60
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists()


def test_the_console_is_brought_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disks = _shim(tmp_path, monkeypatch, 'for one; do case $one in file:*) echo hello > "${one#file:}";; esac; done')
    ran = boot(MACHINE, disks, 30.0)
    assert (ran.ended, ran.console) == (True, "hello\n")


def test_what_the_emulator_complains_of_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disks = _shim(tmp_path, monkeypatch, "echo 'no such machine' >&2; exit 1")
    with pytest.raises(Unfetchable, match="QEMU ended with 1: no such machine"):
        boot(MACHINE, disks, 30.0)


def test_a_guest_ends_with_who_started_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _shim(tmp_path, monkeypatch, f"echo $$ > {tmp_path}/pid; exec sleep 600")
    code = (
        "from pathlib import Path; from guests.boot import Disks, boot; from guests.machines import machine\n"
        f"here = Path({str(tmp_path)!r}); boot(machine('amd64-6.1'), Disks(*[here / str(n) for n in range(5)]), 600)"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT) as starter:
        written = tmp_path / "pid"
        wait_for(lambda: written.exists() and written.read_text().endswith("\n"), "the guest", 30.0)
        starter.kill()
    pid = int(written.read_text())
    wait_for(lambda: not alive(pid), "the guest's end", 10.0)
