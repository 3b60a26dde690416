"""Answers as JSON takes them."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from necroscope.query.sql.answer import Answer, plain_values


@pytest.mark.parametrize(
    ("array", "values"),
    [
        (pa.array([1, None, 2**64 - 1], pa.uint64()), ["1", None, "18446744073709551615"]),
        (pa.array([1, -(2**63)], pa.int64()), [1, -(2**63)]),
        (pa.array([1.5, float("nan"), float("inf"), None]), [1.5, None, None, None]),
        (pa.array([1_767_323_045_678_901_234, None], pa.timestamp("ns")), ["2026-01-02T03:04:05.678901234Z", None]),
        (pa.array([datetime(2026, 1, 2, tzinfo=UTC)], pa.timestamp("us", "UTC")), ["2026-01-02T00:00:00.000000Z"]),
        (pa.array([-1], pa.timestamp("ns")), ["1969-12-31T23:59:59.999999999Z"]),
        (pa.array([2**62], pa.timestamp("s")), [f"{2**62} s"]),
        (pa.array([Decimal(2**70), None], pa.decimal128(38, 0)), [2**70, None]),
        (pa.array([Decimal("1.50")], pa.decimal128(10, 2)), [1.5]),
        (pa.array([["a", "b"], [], None]), [["a", "b"], [], None]),
        (pa.array([[2**63], None], pa.list_(pa.uint64())), [["9223372036854775808"], None]),
        (pa.array([{"a": 1, "b": "x"}, None]), [{"a": 1, "b": "x"}, None]),
        (pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64())), [[["k", 1]], None]),
        (pa.array([b"\x00\xff", None]), ["00ff", None]),
        (pa.array(["x", "x", None]).dictionary_encode(), ["x", "x", None]),
        (pa.array([True, None]), [True, None]),
        (pa.array([date(2026, 1, 2)]), ["2026-01-02"]),
        (pa.array([timedelta(seconds=90)]), ["0:01:30"]),
        (pa.nulls(2), [None, None]),
    ],
)
def test_values(array: pa.Array, values: list[Any]) -> None:
    assert plain_values(array) == values
    assert plain_values(array.slice(1)) == values[1:]
    json.dumps(values, allow_nan=False)


def test_rows_by_name() -> None:
    batch = pa.record_batch({"a": [1, 2], "b": ["x", "y"]})
    assert Answer(("a", "b"), iter([batch])).rows() == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
