"""What an export is made from: the chosen samples as they come, counted, without those of idle cores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from necroscope.query.samples.chunk import Chunk
from necroscope.query.select import Select
from necroscope.sense.perf.idle import is_idle

_MOST_KNOWN = 500_000


class Source:
    """Samples of `select`, to go through once. `samples` counts them, `idle` those left out, `cut` those shortened.
    `resource` is what is known about the node, in OpenTelemetry's words."""

    def __init__(
        self,
        select: Select,
        found: Iterable[Chunk],
        with_idle: bool = False,
        resource: Mapping[str, str] | None = None,
    ) -> None:
        self.select = select
        self.resource = dict(resource or {})
        self.samples = self.idle = self.cut = 0
        self._found, self._with_idle = found, with_idle
        self._known: dict[int, bool] = {}

    @property
    def cpu(self) -> int | None:
        """The core that all samples are of, when one was chosen."""
        return next(iter(self.select.cpus)) if len(self.select.cpus) == 1 else None

    def chunks(self) -> Iterator[Chunk]:
        """The samples, chunk by chunk."""
        for chunk in self._found:
            kept = chunk if self._with_idle else self._at_work(chunk)
            self.samples += _samples(kept)
            if len(kept):
                yield kept

    def _at_work(self, chunk: Chunk) -> Chunk:
        numbers, place = np.unique(chunk.stack, return_inverse=True)
        idle = self._idle(chunk, numbers)[place.reshape(-1)]
        self.idle += _samples(chunk.taken(np.flatnonzero(idle)))
        return chunk.taken(np.flatnonzero(~idle)) if idle.any() else chunk

    def _idle(self, chunk: Chunk, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of the stacks are idle; a stack is looked at once, whichever segments have it."""
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
        ids = chunk.stacks.ids(numbers).tolist()
        fresh = [row for row, one in enumerate(ids) if one not in self._known]
        for row, text in zip(fresh, chunk.stacks.frames(numbers[fresh]) if fresh else (), strict=True):
            self._known[ids[row]] = is_idle(text)
        return np.array([self._known[one] for one in ids], np.bool_)


def _samples(chunk: Chunk) -> int:
    return len(chunk) if chunk.samples is None else int(chunk.samples.sum())
