"""Traces of a configuration."""

from __future__ import annotations

from pathlib import Path

from necroscope.sense.files_found import files_found
from necroscope.sense.host import Host

ECS = ("/etc/ecs/ecs.config", "ECS_CLUSTER")


def found(root: Path, *wanted: tuple[str, str]) -> frozenset[str]:
    return files_found(Host(root), wanted)


def test_a_file_must_say_the_word(tmp_path: Path) -> None:
    assert found(tmp_path, ECS) == frozenset()
    place = tmp_path / "etc/ecs/ecs.config"
    place.parent.mkdir(parents=True)
    for text, there in (
        ("", False),
        ("# ECS_CLUSTER=x\n", False),
        ("A=1\n  ECS_CLUSTER=x\n", True),
        ("export ECS_CLUSTER=x", True),
    ):
        place.write_text(text)
        assert bool(found(tmp_path, ECS)) == there, text


def test_the_last_part_may_have_wildcards(tmp_path: Path) -> None:
    (tmp_path / "etc/nomad.d").mkdir(parents=True)
    assert found(tmp_path, ("/etc/nomad.d/*.hcl", "")) == frozenset()
    (tmp_path / "etc/nomad.d/client.hcl").write_text("")
    assert found(tmp_path, ("/etc/nomad.d/*.hcl", ""), ("/etc/absent/*", "")) == {"/etc/nomad.d/*.hcl"}


def test_links_and_large_files_say_nothing(tmp_path: Path) -> None:
    place = tmp_path / "etc/ecs/ecs.config"
    place.parent.mkdir(parents=True)
    (tmp_path / "outside").write_text("ECS_CLUSTER=x")
    place.symlink_to(tmp_path / "outside")
    assert found(tmp_path, ECS) == frozenset()
    place.unlink()
    place.write_text("ECS_CLUSTER=x\n" + "#" * (1 << 19))
    assert found(tmp_path, ECS) == frozenset()
