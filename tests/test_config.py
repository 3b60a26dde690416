"""Settings: defaults, and no silent misunderstanding."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope import config
from necroscope.config import Config, from_table
from necroscope.errors import BadInput


def test_settings_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "necroscope.toml"
    file.write_text("[zombies]\nwarning = 5\n[cpu]\nbusy = 0.5\n")
    loaded = config.load(file)
    assert (loaded.zombies.warning, loaded.zombies.critical, loaded.cpu.busy) == (5, 10_000, 0.5)


def test_no_file_means_defaults(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(config, "DEFAULT_FILE", tmp_path / "absent.toml")
    assert config.load() == Config()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[zombis]\nwarning = 1\n", "unknown section"),
        ("[zombies]\nwarnin = 1\n", "unknown setting"),
        ("[zombies]\nwarning = 'many'\n", "must be a number"),
        ("[zombies]\nwarning = -1\n", "must be a number"),
        ("[zombies]\nwarning = 1.5\n", "whole number"),
        ("[zombies]\nwarning = true\n", "must be a number"),
        ("zombies = 1\n", "unknown section"),
        ("[zombies\n", "not TOML"),
        ("\x00", "not TOML"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "necroscope.toml"
    file.write_text(text)
    with pytest.raises(BadInput, match=complaint):
        config.load(file)


def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        config.load(tmp_path / "absent.toml")


def test_every_setting_is_documented() -> None:
    page = (Path(__file__).parents[1] / "docs/configuration.md").read_text("utf-8")
    for section in Config.__slots__:
        assert f"[{section}]" in page
        for setting in type(getattr(Config(), section)).__slots__:
            assert f"`{setting}`" in page, setting


def test_an_empty_table_is_the_default() -> None:
    assert from_table({}, "x") == Config()
