"""The declared schema: complete, documented, and an event's id depends on its fields only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.query.sql.views import VIEWS
from necroscope.store.format.tables import CORE_PEAKS, JOURNAL, ROLLUP, SEGMENT, SYMPTOM_SOURCES, Table, valid_text
from necroscope.vocabulary.event import Event

PAGE = (Path(__file__).parents[3] / "docs" / "store-format.md").read_text("utf-8")
EVENT = Event(1_767_323_045_678_901_234, "nic-reset", "kmsg", "eth0", "ena 0000:00:05.0 eth0: reset")


def test_the_id_of_an_event_is_fixed_for_ever() -> None:
    assert EVENT.id == 774757874115093038
    assert 0 <= EVENT.id < 1 << 64


@pytest.mark.parametrize(
    "change", [{"at_ns": 1}, {"kind": "x"}, {"subject": "eth1"}, {"text": ""}, {"uncertainty_ns": 1}]
)
def test_every_field_counts(change: dict[str, int]) -> None:
    assert replace(EVENT, **change).id != EVENT.id  # type: ignore[arg-type]


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_can_be_written(text: str) -> None:
    valid_text(text).encode()
    assert Event(0, text, "", "", "").id >= 0
    if text.isascii():
        assert valid_text(text) == text


def test_bytes_that_were_no_utf8_are_written_out() -> None:
    assert valid_text(b"a\x80b".decode("utf-8", "surrogateescape")) == "a\\x80b"


@pytest.mark.parametrize("table", [*JOURNAL, *SEGMENT, *ROLLUP], ids=lambda table: table.name)
def test_tables_are_sound(table: Table) -> None:
    assert len(set(table.names)) == len(table.names)
    assert set(table.order) <= set(table.names)
    assert not table.time or table.time in table.names
    assert all(column.help for column in table.columns)


@pytest.mark.parametrize("table", [*SEGMENT, CORE_PEAKS], ids=lambda table: table.name)
def test_the_page_describes_every_column_of_every_file(table: Table) -> None:
    section = PAGE.partition(f"{table.name}.parquet`\n")[2].partition("\n#")[0]
    for column in table.columns:
        assert f"| `{column.name}` |" in section, column.name
        assert column.help in section, column.name


def test_the_page_says_what_a_symptom_is() -> None:
    section = PAGE.partition("symptoms.parquet`\n")[2].partition("\n#")[0]
    assert [word for word in section.split("`")[1::2] if word != "events"] == list(SYMPTOM_SOURCES)


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_the_page_describes_every_view(view: object) -> None:
    names = ", ".join(name for name, _ in view.columns)  # type: ignore[attr-defined]
    assert f"`{view.name}({names})`" in " ".join(PAGE.split())  # type: ignore[attr-defined]
