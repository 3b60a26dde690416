"""What an answer is: a JSON document, or columns."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from necroscope.serve.asked import as_json
from necroscope.serve.binary import MEDIA_TYPE, packed


@dataclass(frozen=True, slots=True)
class Answer:
    """A body and what it is."""

    body: bytes
    media_type: str


def document(value: dict[str, Any]) -> Answer:
    """A JSON document."""
    text = json.dumps(as_json(value), separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return Answer(text.encode(), "application/json")


def columns(head: dict[str, Any], arrays: dict[str, Any]) -> Answer:
    """Columns with their head."""
    return Answer(packed(as_json(head), arrays), MEDIA_TYPE)
