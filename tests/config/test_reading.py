"""Settings: defaults, and no silent misunderstanding."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope import config
from necroscope.config import Config, from_table, load, reading
from necroscope.errors import BadInput


def test_settings_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "necroscope.toml"
    file.write_text("[zombies]\nwarning = 5\n[cpu]\nbusy = 0.5\n")
    loaded = config.load(file)
    assert (loaded.zombies.warning, loaded.zombies.critical, loaded.cpu.busy) == (5, 10_000, 0.5)


def test_no_file_means_defaults(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(reading, "DEFAULT_FILE", tmp_path / "absent.toml")
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
        ("[store]\nmax_bytes = '20 boxes'\n", "a size as 20GiB"),
        ("[store]\nmax_age_s = '7 weeks'\n", "a time as 7d"),
        ("[store]\nmax_age_s = 5\n", "at least 600"),
        ("[record]\nperf = 1\n", "true or false"),
        ("[record]\nfrequency_hz = 5000\n", "at most 997"),
        ("[record]\nskip = 'gpu'\n", "list of strings"),
        ("[log]\nlevel = 'loud'\n", "one of debug, info, warning, error"),
        ("[labels]\n'a-b' = 'x'\n", "letters, digits and _"),
        ("[labels]\nzone = 1\n", "must be a string"),
        ("[[sinks]]\nkind = 'json'\n", "needs url"),
        ("[[sinks]]\nkind = 'command'\nurl = 'http://x'\ncommand = ['/bin/true']\n", "no url"),
        ("[[sinks]]\nurl = 'file:///etc/shadow'\n", "http://"),
        ("sinks = 1\n", "list of at most"),
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


def test_an_empty_table_is_the_default() -> None:
    assert from_table({}, "x") == Config()


def test_the_nearest_name_is_suggested() -> None:
    with pytest.raises(BadInput) as caught:
        from_table({"store": {"max_agee_s": 1}}, "x.toml")
    assert "did you mean max_age_s?" in caught.value.hint
    with pytest.raises(BadInput) as caught:
        from_table({"stor": {}}, "x.toml")
    assert "did you mean store?" in caught.value.hint


def test_sizes_and_times_have_units() -> None:
    loaded = from_table({"store": {"max_bytes": "40GiB", "max_age_s": "1.5d", "min_free_bytes": 7}}, "x")
    assert (loaded.store.max_bytes, loaded.store.max_age_s, loaded.store.min_free_bytes) == (40 << 30, 129_600.0, 7)


def test_the_environment_comes_before_the_file(tmp_path: Path) -> None:
    file = tmp_path / "necroscope.toml"
    file.write_text('[store]\nmax_age_s = "1d"\npath = "/file"\n[record]\nfrequency_hz = 49\n[labels]\nzone = "a"\n')
    said = {
        "NECROSCOPE_STORE": "/environment",
        "NECROSCOPE_STORE__MAX_AGE_S": "3d",
        "NECROSCOPE_RECORD__SKIP": '["gpu", "nic"]',
        "NECROSCOPE_LABELS__ZONE": "b",
        # as an orchestrator sets them for a service that is called so
        "NECROSCOPE_METRICS_PORT": "tcp://10.0.0.1:9477",
        "NECROSCOPE_SERVICE_HOST": "10.0.0.1",
    }
    loaded = load(file, said)
    assert (loaded.store.path, loaded.store.max_age_s) == ("/environment", 259_200.0)
    assert (loaded.record.frequency_hz, loaded.record.skip, loaded.labels) == (49, ("gpu", "nic"), {"zone": "b"})


@pytest.mark.parametrize(
    ("variable", "value", "hint"),
    [
        ("NECROSCOPE_STORE__MAX_AGE", "3d", "did you mean max_age_s?"),
        ("NECROSCOPE_STOER__MAX_AGE_S", "3d", "did you mean store?"),
        ("NECROSCOPE_STORE__SHARE", "much", "its default is 0.1"),
    ],
)
def test_mistakes_in_the_environment_are_named(variable: str, value: str, hint: str) -> None:
    with pytest.raises(BadInput, match=variable) as caught:
        load(None, {variable: value})
    assert hint in caught.value.hint
