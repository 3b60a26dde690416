"""A bare `at` is the time of a row, wherever a column may stand."""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.query.sql.dialect import quoted_at


@pytest.mark.parametrize(
    ("sql", "made"),
    [
        ("select at, x from t", 'select "at", x from t'),
        ("select AT from t order by at", 'select "at" from t order by "at"'),
        ("select max(at)-min(at) from t", 'select max("at")-min("at") from t'),
        ("select t.at from t", 'select t."at" from t'),
        ("select at_ns, flat, 'at', \"at\" from t -- at", "select at_ns, flat, 'at', \"at\" from t -- at"),
        ("select 1 /* at */ as at", 'select 1 /* at */ as "at"'),
        ("select now() at time zone 'UTC'", "select now() at time zone 'UTC'"),
        ("select at at time zone 'UTC' from t", "select \"at\" at time zone 'UTC' from t"),
        ("select * from t at (version => 3)", "select * from t at (version => 3)"),
        ("select 'é', at from t", "select 'é', \"at\" from t"),
        ("select\n at\n from t", 'select\n "at"\n from t'),
        ("", ""),
        ("  at", '  "at"'),
    ],
)
def test_quoting(sql: str, made: str) -> None:
    assert quoted_at(sql) == made
    assert quoted_at(made) == made


def test_duckdb_takes_it() -> None:
    with duckdb.connect() as connection:
        connection.execute('create table t as select 2 as "at"')
        for sql in ("select at from t", "select max(at) from t where at > 1 group by at order by at"):
            assert connection.execute(quoted_at(sql)).fetchall() == [(2,)]


@given(st.text())
def test_anything_else_is_left_alone(text: str) -> None:
    if "at" not in text.lower():
        assert quoted_at(text) == text
    quoted_at(text)
