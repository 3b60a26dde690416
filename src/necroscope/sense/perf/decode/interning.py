"""Small numbers for things that come again and again: texts by their value, records by the hash of their bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from necroscope.sense.perf.decode.hashing import HashIndex

T = TypeVar("T")
NAMES = 1 << 17


class Names:
    """Texts and their numbers, in order of appearance."""

    def __init__(self, *known: str) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}
        for text in known:
            self.number(text)

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def full(self) -> bool:
        """Whether it is time to `keep` only what is in use."""
        return len(self.texts) > NAMES

    def keep(self, used: Iterable[int]) -> dict[int, int]:
        """Forget all texts but number 0 and those in use; returns their new numbers by their old ones."""
        kept = {old: self.texts[old] for old in (0, *used)}
        self.texts.clear()
        self._numbers.clear()
        return {old: self.number(text) for old, text in kept.items()}

    def number(self, text: str) -> int:
        """The number of a text, a new one for a new text."""
        number = self._numbers.setdefault(text, len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
        return number


class ByHash(Generic[T]):
    """One value for each distinct key; the value is made when a key comes for the first time."""

    def __init__(self, limit: int = 1 << 16) -> None:
        self._index = HashIndex()
        self._limit = limit
        self.values: list[T] = []

    def numbers(self, keys: NDArray[np.uint64], make: Callable[[int], T]) -> NDArray[np.int32]:
        """The number of each key in `values`; `make` is asked once per new key, with the key's position."""
        numbers, fresh = self._index.add(keys)
        self.values.extend(make(position) for position in fresh.tolist())
        return numbers

    @property
    def full(self) -> bool:
        """Whether it is time to `clear` it, together with everything that remembers its numbers."""
        return len(self.values) > self._limit

    def clear(self) -> None:
        """Forget everything."""
        self._index.clear()
        self.values.clear()


def recoded(codes: NDArray[np.int32], texts: list[str]) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Codes into a long list as codes into the short tuple of what is used."""
    used = np.zeros(len(texts) + 1, np.bool_)
    used[codes] = True
    kept = np.flatnonzero(used)
    place = np.cumsum(used, dtype=np.int32) - 1
    return place[codes].astype(np.int32), tuple(texts[code] for code in kept.tolist())
