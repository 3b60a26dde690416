"""Settings as TOML: what is printed is read back as the same, and the page has them all."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from necroscope.config import Config, from_table
from necroscope.show.settings.toml import defaults, document, in_force, value

ROOT = Path(__file__).parents[3]
TABLE = {
    "store": {"max_bytes": "40GiB"},
    "record": {"skip": ["gpu"], "perf": False},
    "labels": {"zone": 'a"b\\c\n'},
    "sinks": [{"kind": "command", "command": ["/bin/true", "a b"]}],
}


def test_what_is_in_force_is_read_back() -> None:
    for config in (Config(), from_table(TABLE, "x")):
        assert from_table(tomllib.loads(in_force(config)), "x") == config


def test_the_defaults_change_nothing() -> None:
    assert from_table(tomllib.loads(defaults()), "x") == Config()
    assert "# max_age_s = 604800.0" in defaults()
    assert max(map(len, defaults().splitlines())) <= 110


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00")))
def test_any_text_is_read_back(text: str) -> None:
    assert tomllib.loads(f"a = {value(text)}")["a"] == text


def test_the_document_has_everything() -> None:
    made = json.loads(json.dumps(document(from_table(TABLE, "x"))))
    assert made["schema"] == "necroscope.config/1"
    assert made["settings"]["store"]["max_bytes"] == 40 << 30
    assert made["settings"]["sinks"][0]["command"] == ["/bin/true", "a b"]


def test_the_page_is_up_to_date() -> None:
    made = subprocess.run(
        [sys.executable, ROOT / "tools/configuration-page", "--print"], capture_output=True, text=True, check=True
    )
    assert (ROOT / "docs/configuration.md").read_text("utf-8") == made.stdout
