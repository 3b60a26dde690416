"""Which cgroup driver the kubelet and its runtime are told to use, from captured trees."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.record.doctor.examination import drivers
from necroscope.sense.containers.cgroup_drivers import Driver, containerd_driver, docker_driver, kubelet_driver
from necroscope.sense.host import Host

_LAYOUT = {"/proc/self/mountinfo": b"30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"}


def _host(folder: Path, **files: bytes) -> Host:
    named = {
        "config": "/var/lib/kubelet/config.yaml",
        "containerd": "/etc/containerd/config.toml",
        "docker": "/etc/docker/daemon.json",
        "crio": "/etc/crio/crio.conf",
        "comm": "/proc/77/comm",
        "cmdline": "/proc/77/cmdline",
    }
    for path, data in (_LAYOUT | {named[name]: data for name, data in files.items()}).items():
        place = folder / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return Host(folder)


def test_the_kubelets_flag_comes_before_its_file(tmp_path: Path) -> None:
    line = b"/usr/bin/kubelet\0--cgroup-driver=cgroupfs\0"
    host = _host(tmp_path, config=b"cgroupDriver: systemd\n", comm=b"kubelet\n", cmdline=line)
    assert kubelet_driver(host) == Driver("kubelet", "cgroupfs", "its command line")


def test_a_file_and_a_default(tmp_path: Path) -> None:
    host = _host(tmp_path / "a", config=b'apiVersion: v1\n# cgroupDriver: cgroupfs\ncgroupDriver: "systemd"\n')
    assert kubelet_driver(host) == Driver("kubelet", "systemd", "/var/lib/kubelet/config.yaml")
    host = _host(tmp_path / "b", comm=b"kubelet\n", cmdline=b"kubelet\0")
    assert kubelet_driver(host) == Driver("kubelet", "cgroupfs", "its default")
    assert kubelet_driver(_host(tmp_path / "c")) is None


@pytest.mark.parametrize(
    ("text", "driver"),
    [
        (
            b'[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]\n  SystemdCgroup = true\n',
            "systemd",
        ),
        (b"# SystemdCgroup = true\n", "cgroupfs"),
        (b"SystemdCgroup = false\n", "cgroupfs"),
        (b"\xff\x00", "cgroupfs"),
    ],
)
def test_containerd(text: bytes, driver: str) -> None:
    assert containerd_driver(text) == driver


@pytest.mark.parametrize(
    ("text", "unified", "driver"),
    [
        (b'{"exec-opts": ["native.cgroupdriver=systemd"]}', False, "systemd"),
        (b"{}", False, "cgroupfs"),
        (b"{}", True, "systemd"),
        (b"[" * 100_000, True, "systemd"),
        (b'{"exec-opts": 7}', False, "cgroupfs"),
    ],
)
def test_docker(text: bytes, unified: bool, driver: str) -> None:
    assert docker_driver(text, unified) == driver


def test_two_drivers_are_wrong_and_one_is_fine(tmp_path: Path) -> None:
    files = {"config": b"cgroupDriver: systemd\n", "containerd": b"version = 2\n", "crio": b"[crio.runtime]\n"}
    checks = {one.text.split(", ")[1]: one for one in drivers(_host(tmp_path, **files))}
    wrong, right = (
        checks["containerd cgroupfs (/etc/containerd/config.toml)"],
        checks["CRI-O systemd (/etc/crio/crio.conf)"],
    )
    assert (wrong.grade, right.grade) == ("wrong", "fine")
    assert wrong.text.startswith("the kubelet uses systemd (/var/lib/kubelet/config.yaml), containerd cgroupfs")
    assert "drained" in wrong.hint
    assert list(drivers(_host(tmp_path / "none"))) == []
