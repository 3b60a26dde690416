"""Unit files: lists add up, empty values empty them, and rubbish is left out."""

from __future__ import annotations

import pytest

from necroscope.sense.image.presets import parse_preset, preset_of
from necroscope.sense.image.unit_file import parse_unit_file


def test_a_unit_file_and_its_drop_in() -> None:
    found = parse_unit_file(
        b"[Unit]\nDescription=An agent\nRequires=a.service b.socket\nBindsTo=c.service\n"
        b"[Service]\nExecStart=-/usr/bin/agent --flag \\\n  more\n[Install]\nWantedBy=multi-user.target\n",
        b"[Service]\nExecStart=\nExecStart=@/opt/agent agent\nRestart=always\n",
    )
    assert (found.description, found.program, found.restart) == ("An agent", "/opt/agent", "always")
    assert found.requires == ("a.service", "b.socket", "c.service")
    assert found.wanted_by == ("multi-user.target",)
    assert found.installable


@pytest.mark.parametrize(
    "text", [b"", b"\0\xff\n=\n==\n", b"# ExecStart=/bin/x\n;Restart=always\n[Service", b"ExecStart="]
)
def test_what_is_no_unit_file_tells_nothing(text: bytes) -> None:
    found = parse_unit_file(text)
    assert (found.program, found.restart, found.requires, found.installable) == ("", "", (), False)


def test_values_are_bounded() -> None:
    found = parse_unit_file(b"Description=" + b"x" * 100_000 + b"\nRequires=" + b"a.service " * 5000)
    assert len(found.description) == 200
    assert set(found.requires) <= {"a.service", *(f"{'a.service'[:n]}" for n in range(10))}


def test_the_first_preset_that_matches_decides() -> None:
    rules = parse_preset(
        b"# comment\ndisable ecs.service\nenable getty@.service\nenable *.service\nnonsense here\nenable\n"
    )
    assert preset_of(rules, "ecs.service") == "disabled"
    assert preset_of(rules, "kubelet.service") == "enabled"
    assert preset_of(rules, "getty@tty1.service") == "enabled"
    assert preset_of(rules, "fstrim.timer") == ""
