"""Reading while others merge and remove."""

from __future__ import annotations

import pytest

from necroscope.errors import BadInput
from necroscope.query.sealed import again


def test_a_look_is_repeated_when_a_file_is_gone() -> None:
    tries: list[int] = []

    def look() -> str:
        tries.append(1)
        if len(tries) < 3:
            raise FileNotFoundError("merged away")
        return "found"

    assert again(look) == "found"
    assert len(tries) == 3


def test_it_is_not_repeated_forever() -> None:
    def look() -> str:
        raise FileNotFoundError("merged away")

    with pytest.raises(BadInput, match="changes faster"):
        again(look)
