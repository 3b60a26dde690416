"""The catalogue of roles: complete, extendable, and broken files cost themselves only."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.diagnose.audit.roles import BrokenRole, bare_image, parse_roles, roles_of
from necroscope.scan.role_files import load_roles
from stage.workloads import container, running

OWN = '[[roles]]\nid = "acme"\ntitle = "Acme agent"\nrole = "agent"\nunits = ["acme-*.service"]\n'


def test_the_catalogue_has_roles_of_every_kind() -> None:
    entries = roles_of().entries
    assert len(entries) >= 60
    assert {one.role for one in entries} >= {"orchestrator", "agent", "exporter", "log-shipper", "security", "cloud"}
    assert len({one.id for one in entries}) == len(entries)
    assert {one.orchestrator for one in entries if one.agent} >= {"kubernetes", "ecs", "nomad", "slurm"}


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("kubelet.service", "kubelet"),
        ("ecs.service", "ecs-agent"),
        ("prometheus-node-exporter.service", "node-exporter"),
        ("getty@tty1.service", "terminals"),
        ("systemd-journald.service", "systemd"),
    ],
)
def test_units_find_their_role(name: str, entry: str) -> None:
    found = roles_of().of(running(name))
    assert found is not None
    assert found.id == entry


def test_a_name_within_a_name_is_no_match() -> None:
    assert roles_of().of(running("my-kubelet.service")) is None
    assert roles_of().of(container("x", "registry.local/not-amazon-ecs-agent-at-all")) is None


@pytest.mark.parametrize(
    ("image", "bare"),
    [
        ("amazon/amazon-ecs-agent:latest", "amazon/amazon-ecs-agent"),
        ("123.dkr.ecr.eu-west-1.amazonaws.com/team/agent@sha256:00", "team/agent"),
        ("localhost:5000/agent", "agent"),
        ("busybox", "busybox"),
        ("", ""),
    ],
)
def test_images_lose_registry_and_tag(image: str, bare: str) -> None:
    assert bare_image(image) == bare


def test_a_folder_adds_and_replaces(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(OWN + OWN.replace("acme-*", "k*").replace('"acme"', '"kubelet"'))
    roles = load_roles((tmp_path,))
    assert (found := roles.of(running("acme-1.service")))
    assert found.id == "acme"
    assert [one.title for one in roles.entries if one.id == "kubelet"] == ["Acme agent"]


@pytest.mark.parametrize(
    "text",
    [
        "[[roles]]\nid = 3",
        OWN.replace("agent", "metaphor", 2),
        OWN + "colour = 1\n",
        OWN.replace('["acme-*.service"]', '"acme"'),
        OWN + OWN,
        "[roles]\n",
        OWN + "agent = true\n",
        OWN + 'configured = ["relative"]\n',
        "not toml",
    ],
)
def test_a_broken_file_is_left_out_with_a_warning(text: str, tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text(text)
    roles = load_roles((tmp_path,))
    assert [one.where for one in roles.warnings] == [str(tmp_path / "broken.toml")]
    assert roles.entries == roles_of().entries


def test_errors_name_the_entry() -> None:
    with pytest.raises(BrokenRole, match=r"entry 1 \(acme\): 'colour' is unknown"):
        parse_roles(OWN + "colour = 1\n")
