"""Numbers as people read them."""

from __future__ import annotations

import pytest

from necroscope.quantity import count, plural, share, size, span


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.25, "0.2 s"),
        (9.99, "10.0 s"),
        (11, "11 s"),
        (59.6, "1 min"),
        (250, "4 min 10 s"),
        (3600, "1 h"),
        (601_200, "6 d 23 h"),
        (86_400 * 400, "400 d"),
    ],
)
def test_spans(seconds: float, text: str) -> None:
    assert span(seconds) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (1023, "1023 B"), (4096, "4.0 KiB"), (4_509_715_661, "4.2 GiB"), (1 << 50, "1024.0 TiB")],
)
def test_sizes(number: int, text: str) -> None:
    assert size(number) == text


def test_counts_and_shares() -> None:
    assert count(68440) == "68,440"
    assert plural(1, "zombie") == "1 zombie"
    assert plural(2, "family", "families") == "2 families"
    assert share(0.934) == "93 %"
