"""The layout of a flame graph as a document, for whoever draws it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from necroscope.query.profile.changes import Change
from necroscope.query.profile.flame import Flame
from necroscope.query.profile.looked import Looked
from necroscope.show.window import window_document


def flame_document(looked: Looked, graph: Flame, changes: Iterable[Change]) -> dict[str, Any]:
    """The document of `flame --json`."""
    ranked = [
        {
            "node": one.box.node,
            "change": one.box.change,
            "callers": one.callers,
            "path": [asdict(step) for step in one.path],
        }
        for one in changes
    ]
    return {
        "schema": "necroscope.flame/1",
        **window_document(looked),
        "hidden": graph.hidden,
        "boxes": [{**asdict(box), "significant": box.significant} for box in graph.boxes],
        "changes": ranked,
    }
