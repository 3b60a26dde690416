"""`audit`: an image before anybody boots it, baseline, policy, hostile names, and what it cannot see."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from necroscope.show.plain import plain
from stage.image import CONTAINERD, learning_image
from stage.program import Program

HEAD = 'schema = "necroscope.policy/1"\n'


@pytest.fixture
def program() -> Program:
    return Program()


def audited(document: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [one for one in document["audited"] if one["subject"]["name"] == name]
    return found


def test_an_image_with_an_agent_of_another_orchestrator(program: Program, tmp_path: Path) -> None:
    image = learning_image(tmp_path / "image")
    ran = program("audit", "--root", image.root, "--json")
    assert (ran.code, ran.err) == (1, "")
    document = ran.document
    assert (document["schema"], document["source"], document["recorded"]) == ("necroscope.audit/1", "image", None)
    ecs = audited(document, "ecs.service")
    assert (ecs["judgement"], ecs["role"], ecs["orchestrator"]) == ("orphaned", "orchestrator", "ecs")
    said = [reason["text"] for reason in ecs["reasons"]]
    assert "kubernetes is set up here: kubelet.service is enabled" in said
    assert "none of its configuration files is there" in said
    assert "no other unit needs it" in said
    assert "whether it ever succeeds cannot be seen in an image" in said
    assert ecs["why_it_runs"] == {
        "unit_file": "/usr/lib/systemd/system/ecs.service",
        "unit_file_state": "enabled",
        "preset": "",
        "wanted_by": ["multi-user.target"],
        "triggered_by": [],
        "package": "amazon-ecs-init 1.82.0-1",
        "program": "/usr/libexec/amazon-ecs-init",
        "program_package": "",
        "image": "",
        "restart_policy": "on-failure",
    }
    assert {one["orchestrator"]: one["standing"] for one in document["owners"]} == {
        "kubernetes": "set-up",
        "ecs": "present",
    }


@pytest.mark.parametrize(("kubernetes", "cluster"), [(False, "prod"), (False, ""), (True, "prod")])
def test_the_same_agent_on_nodes_of_its_own_is_not_orphaned(
    program: Program, tmp_path: Path, kubernetes: bool, cluster: str
) -> None:
    """Idle nodes of ECS, and one that somebody set up for both."""
    image = learning_image(tmp_path / "image", kubernetes, cluster)
    ran = program("audit", "--root", image.root, "--json")
    assert ran.code == 0
    assert audited(ran.document, "ecs.service")["judgement"] == ("needed" if cluster else "unknown")


def test_what_a_person_reads(program: Program, tmp_path: Path) -> None:
    image = learning_image(tmp_path / "image")
    image.file("/etc/hostname", "image-7\n")
    text = program("audit", "--root", image.root, columns=80).out
    assert text.startswith("image-7 · an image's files, not booted")
    assert "ORPHANED  ecs.service  Amazon ECS agent" in text
    assert "kubernetes is set up here: kubelet.service is enabled" in text
    assert max(map(len, text.splitlines())) <= 80
    assert "Needed (2)" not in text
    assert "Needed (2)" in program("audit", "--root", image.root, "--all").out


def test_baseline_and_back(program: Program, tmp_path: Path) -> None:
    image = learning_image(tmp_path / "image", kubernetes=False, ecs_cluster="prod")
    gold = tmp_path / "gold.toml"
    ran = program("audit", "--root", image.root, "--write-baseline", gold)
    assert (ran.code, ran.err) == (0, f"{gold}: 2 entries\n")
    again = program("audit", "--root", image.root, "--write-baseline", gold)
    assert (again.code, "--force" in again.err) == (2, True)
    assert program("audit", "--root", image.root, "--baseline", gold).code == 0
    image.unit("miner.service", CONTAINERD)
    image.enable("miner.service")
    differs = program("audit", "--root", image.root, "--baseline", gold)
    assert differs.code == 1
    assert "Golden image: 1 difference" in differs.out
    assert "miner.service  added: is not in the golden image, which a boot starts (enabled)" in differs.out


@pytest.mark.parametrize(
    ("review", "code", "said"),
    [("2999-01-01", 0, "Policy: 0 breaches"), ("2020-01-01", 1, "its review was due on 2020-01-01")],
)
def test_an_overdue_review_is_wrong(program: Program, tmp_path: Path, review: str, code: int, said: str) -> None:
    image = learning_image(tmp_path / "image", kubernetes=False, ecs_cluster="prod")
    rules = "".join(
        f'[[agent]]\nname = "{name}"\nowner = "sre"\nreason = "r"\nreview = {review}\n'
        for name in ("ecs.service", "containerd.*")
    )
    policy = tmp_path / "policy.toml"
    policy.write_text(HEAD + rules)
    ran = program("audit", "--root", image.root, "--policy", policy)
    assert (ran.code, said in ran.out) == (code, True), ran.out


def test_a_violation_is_wrong_and_a_written_policy_must_be_filled_in(program: Program, tmp_path: Path) -> None:
    image = learning_image(tmp_path / "image", kubernetes=False, ecs_cluster="prod")
    policy = tmp_path / "policy.toml"
    policy.write_text(HEAD)
    ran = program("audit", "--root", image.root, "--policy", policy, "--json")
    assert ran.code == 1
    assert {one["subject"]["name"] for one in ran.document["policy"]["breaches"]} == {
        "ecs.service",
        "containerd.service",
    }
    program("audit", "--root", image.root, "--write-policy", policy, "--force")
    assert "names no owner and reason" in program("audit", "--root", image.root, "--policy", policy, columns=140).out


def test_hostile_names_and_lists_cannot_move_a_cursor(program: Program, tmp_path: Path) -> None:
    image = learning_image(tmp_path / "image")
    name = "x\x1b[2J\x9b31m[bold]é\udcff.service"
    image.unit(
        name, "[Unit]\nDescription=\x1b]0;title\x07\n[Service]\nExecStart=/bin/x\n[Install]\nWantedBy=a\x1b[1m.target\n"
    )
    image.enable(name, "a\x1b[1m.target")
    image.file(
        "/var/lib/dpkg/info/evil\x1b[5m.list", f"/usr/lib/systemd/system/{name}\n".encode("utf-8", "replace").decode()
    )
    image.file("/etc/hostname", "evil\x1b[31m\nhost\n")
    for arguments in (("--all",), ("--json",), ("--write-policy", tmp_path / "p.toml")):
        ran = program("audit", "--root", image.root, *arguments)
        assert ran.code == 1
        assert not {char for char in ran.out + ran.err if not char.isprintable()} - {"\n"}
    assert plain(name)[:20] in program("audit", "--root", image.root, "--all", columns=160).out
    assert "\x1b" not in (tmp_path / "p.toml").read_text()


def test_roles_of_ones_own(program: Program, tmp_path: Path) -> None:
    image = learning_image(tmp_path / "image", kubernetes=False, ecs_cluster="prod")
    image.unit("acme-agent.service", CONTAINERD)
    image.enable("acme-agent.service")
    assert audited(program("audit", "--root", image.root, "--json").document, "acme-agent.service")["role"] == "unknown"
    folder = tmp_path / "roles"
    folder.mkdir()
    (folder / "a.toml").write_text('[[roles]]\nid = "acme"\nrole = "agent"\nunits = ["acme-*"]\n')
    (folder / "b.toml").write_text("broken")
    ran = program("audit", "--root", image.root, "--json", "--roles", folder)
    assert audited(ran.document, "acme-agent.service")["role"] == "agent"
    assert "b.toml cannot be used" in ran.err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--root", "/nowhere"), 2),
        (("--root", "EMPTY"), 3),
        (("--root", "EMPTY", "--store", "x"), 2),
        (("--root", "IMAGE", "--baseline", "/nowhere"), 2),
        (("--root", "IMAGE", "--policy", "/dev/null"), 2),
        (("--root", "IMAGE", "--roles", "/nowhere"), 2),
    ],
)
def test_bad_input(program: Program, tmp_path: Path, arguments: tuple[str, ...], code: int) -> None:
    (tmp_path / "empty").mkdir()
    places = {"EMPTY": tmp_path / "empty", "IMAGE": learning_image(tmp_path / "image").root}
    assert program("audit", *(places.get(one, one) for one in arguments)).code == code


def test_blind_is_three_and_never_nothing_wrong(program: Program, tmp_path: Path) -> None:
    """A bus that nobody answers, and no engine."""
    env = {"NECROSCOPE_SYSTEM_BUS": str(tmp_path / "no-bus"), "NECROSCOPE_CONTAINER_SOCKET": str(tmp_path / "none")}
    ran = program("audit", "--store", tmp_path / "none", env=env)
    assert ran.code in (2, 3)
    ran = program("audit", "--json", env=env)
    sensors = {one["sensor"] for one in ran.document["unavailable"]}
    if "containers" in sensors:
        assert ran.code == 3
    assert "systemd" in sensors
