"""Units of an image that nobody booted, and what a hostile one cannot do."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.image.units import MOST_UNITS, read_image_units
from necroscope.vocabulary.conclusions.audit import Workload
from stage.image import CONTAINERD, OWN, VENDOR, Image, learning_image


def units(image: Image) -> dict[str, Workload]:
    return {one.name: one for one in read_image_units(Host(image.root))[0]}


def state(workload: Workload) -> str:
    assert workload.unit is not None
    return workload.unit.unit_file_state


def test_enabled_disabled_static_and_masked(tmp_path: Path) -> None:
    image = learning_image(tmp_path / "image")
    image.unit("off.service", CONTAINERD)
    image.unit("helper.service", "[Service]\nExecStart=/bin/true\n")
    image.unit("gone.service", CONTAINERD)
    image.mask("gone.service")
    image.unit("getty@.service", CONTAINERD)
    image.enable("getty@tty1.service", "getty.target")
    image.file("/usr/lib/systemd/system-preset/90-all.preset", "disable ecs.service\nenable *\n")
    image.file("/etc/systemd/system-preset/90-all.preset", "enable ecs.service\ndisable *\n")
    found = units(image)
    assert {name: state(one) for name, one in found.items()} == {
        "containerd.service": "enabled",
        "ecs.service": "enabled",
        "getty@.service": "disabled",
        "getty@tty1.service": "enabled",
        "gone.service": "masked",
        "helper.service": "static",
        "kubelet.service": "enabled",
        "off.service": "disabled",
    }
    ecs = found["ecs.service"].unit
    assert ecs is not None
    assert (ecs.preset, ecs.wanted_by, ecs.fragment_path) == (
        "enabled",
        ("multi-user.target",),
        f"/{VENDOR}/ecs.service",
    )
    assert found["ecs.service"].program == "/usr/libexec/amazon-ecs-init"
    assert found["containerd.service"].needed_by == ("kubelet.service",)


def test_an_own_unit_file_takes_the_place_of_the_vendors(tmp_path: Path) -> None:
    image = learning_image(tmp_path / "image")
    image.unit("ecs.service", "[Service]\nExecStart=/opt/other\nRestart=no\n", OWN)
    image.file(f"/{OWN}/ecs.service.d/50-own.conf", "[Service]\nRestart=always\n")
    ecs = units(image)["ecs.service"]
    assert ecs.program == "/opt/other"
    assert ecs.unit is not None
    assert ecs.unit.restart_policy == "always"


def test_timers_and_sockets_start_services(tmp_path: Path) -> None:
    image = learning_image(tmp_path / "image")
    image.unit("sweep.timer", "[Timer]\nOnCalendar=daily\n[Install]\nWantedBy=timers.target\n")
    image.unit("sweep.service", "[Service]\nExecStart=/bin/true\n")
    found = units(image)
    assert found["sweep.timer"].triggers == ("sweep.service",)
    assert found["sweep.service"].unit is not None
    assert found["sweep.service"].unit.triggered_by == ("sweep.timer",)


def test_links_out_of_the_image_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("[Service]\nExecStart=/secret/program\n")
    image = learning_image(tmp_path / "image")
    (image.root / VENDOR / "evil.service").symlink_to(tmp_path / "secret")
    (image.root / OWN / "evil2.service").symlink_to("../../../../secret")
    (image.root / VENDOR / "folder.service").mkdir()
    found = units(image)
    assert "/secret/program" not in {one.program for one in found.values()}


def test_very_many_units_are_cut_and_that_is_told(tmp_path: Path) -> None:
    image = learning_image(tmp_path / "image")
    for number in range(MOST_UNITS + 10):
        image.unit(f"many-{number}.service", "")
    found, unseen = read_image_units(Host(image.root))
    assert len(found) == MOST_UNITS
    assert [one.reason for one in unseen] == ["only 2000 units were read: there are more"]


def test_an_empty_folder_is_no_image(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="no unit files"):
        read_image_units(Host(tmp_path))
