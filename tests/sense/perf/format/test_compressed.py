"""One zstd stream cut into records: whole again wherever it is cut, and bounded whatever it says."""

from __future__ import annotations

import pyarrow as pa
import pytest

from necroscope.errors import BadInput
from necroscope.sense.perf.format.compressed import EXPANSION_LIMIT, Inflater, library

try:
    library()
except BadInput as absent:
    pytestmark = pytest.mark.skip(reason=absent.message)

PLAIN = bytes(range(256)) * 3000


def _packed(data: bytes) -> bytes:
    return bytes(pa.compress(data, codec="zstd", asbytes=True))


@pytest.mark.parametrize("size", [1, 7, 100, 1 << 20])
def test_it_is_whole_again_wherever_it_is_cut(size: int) -> None:
    packed, inflater = _packed(PLAIN), Inflater()
    parts = [packed[at : at + size] for at in range(0, len(packed), size)]
    assert b"".join(piece for part in parts for piece in inflater.feed(part)) == PLAIN


def test_an_end_that_is_missing_is_waited_for() -> None:
    packed, inflater = _packed(PLAIN), Inflater()
    assert b"".join(inflater.feed(packed[:-40])) != PLAIN
    assert list(inflater.feed(b"")) == []


def test_what_is_no_zstd_is_refused() -> None:
    with pytest.raises(BadInput, match="compressed record"):
        list(Inflater().feed(b"no zstd at all, whatever it is"))


def test_a_record_that_expands_without_end_is_refused_in_time() -> None:
    bomb = _packed(bytes(EXPANSION_LIMIT + (1 << 20)))
    assert len(bomb) < 1 << 16
    sizes: list[int] = []
    with pytest.raises(BadInput, match="compressed record"):
        sizes.extend(map(len, Inflater().feed(bomb)))
    assert 0 < sum(sizes) <= EXPANSION_LIMIT


def test_it_can_be_closed_twice() -> None:
    inflater = Inflater()
    inflater.close()
    inflater.close()
