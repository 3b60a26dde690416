"""What captures hold is a format: names and types of the values that are written, declared a second time.

Whoever changes a field here makes captures unreadable that people keep: add a new field with a default instead, or let
`sense/replay.py` read the old one too. Then `captured.txt` gets the new line.
"""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

from necroscope.clock import ClockReading
from necroscope.sense.kernel.memcg_walk import walk_memcgs
from necroscope.vocabulary.model import Reading

DECLARED = Path(__file__).parent / "captured.txt"


def _declared(kind: Any, found: dict[str, list[str]]) -> None:
    """The fields of a type and of all types within it."""
    for inner in get_args(kind):
        _declared(inner, found)
    if not (isinstance(kind, type) and is_dataclass(kind)) or kind.__name__ in found:
        return
    hints = get_type_hints(kind)
    found[kind.__name__] = []
    for one in fields(kind):
        optional = one.default is not MISSING or one.default_factory is not MISSING
        found[kind.__name__].append(f"{one.name}: {_word(hints[one.name])}{'  optional' if optional else ''}")
        _declared(hints[one.name], found)


def _word(kind: Any) -> str:
    return (kind.__name__ if type(kind) is type else str(kind)).replace("necroscope.vocabulary.model.", "")


def test_what_captures_hold_is_what_is_declared() -> None:
    found: dict[str, list[str]] = {}
    for kind in (ClockReading, get_type_hints(walk_memcgs)["return"], Reading):
        _declared(kind, found)
    lines = [f"{name}.{field}" for name in sorted(found) for field in found[name]]
    assert lines == DECLARED.read_text("utf-8").splitlines()
