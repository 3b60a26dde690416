"""The verdict about a symptom. What was judged once is not judged again while nothing new was recorded."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any

from necroscope import config
from necroscope.diagnose.hypotheses import Catalogue
from necroscope.explain import explain
from necroscope.explain.mechanism_files import DEFAULT, hypotheses_of
from necroscope.serve.answers.answer import Answer, document
from necroscope.serve.asked import Asked
from necroscope.serve.opened import Opened
from necroscope.show.why.answer import outcome
from necroscope.show.why.document import why_document
from necroscope.vocabulary.verdict import Verdict

_MOST = 64


class Judge:
    """Verdicts, with the latest kept. One at a time is found."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, Verdict] = OrderedDict()
        self._lock = threading.Lock()
        self._catalogue: Catalogue | None = None

    def why(self, opened: Opened, asked: Asked) -> Answer:
        """The document of `necroscope why --json`, with its headline and the titles of mechanisms."""
        with self._lock:
            known = self._catalogue = self._catalogue or hypotheses_of(DEFAULT)
            verdict = self._verdict(opened, asked, known)
        verdict_document: dict[str, Any] = why_document(verdict)
        return document({**verdict_document, "headline": outcome(verdict)[0], "titles": dict(known.titles)})

    def _verdict(self, opened: Opened, asked: Asked, known: Catalogue) -> Verdict:
        event, at = asked["event"], asked["at"]
        snapshot = opened.whole()
        key = event, at, tuple((one.first, one.last) for one in snapshot.segments[-2:]), len(snapshot.segments)
        if key in self._kept and not _growing(opened, event, at):
            self._kept.move_to_end(key)
            return self._kept[key]
        at_ns = asked.integer("at", 0, (1 << 63) - 1) if at else None
        verdict = explain(opened.store, config.load(None), at_ns=at_ns, event=event or None, known=known)
        self._kept[key] = verdict
        while len(self._kept) > _MOST:
            self._kept.popitem(last=False)
        return verdict


def _growing(opened: Opened, event: str, at: str) -> bool:
    """Whether the latest symptom is asked for while the recording goes on."""
    return not opened.source.bundle and not event and not at
