"""What checking a recording found: for people, and as a document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from necroscope.quantity import plural, size
from necroscope.show.plain import plain
from necroscope.store.read.check import Checked


def verdict(found: Checked) -> str:
    """intact, damaged, or cannot-tell: parts cannot be verified."""
    if found.damaged:
        return "damaged"
    return "cannot-tell" if found.unverifiable or found.unreadable else "intact"


def verify_document(found: Checked) -> dict[str, Any]:
    """The document of `verify --json`."""
    return {
        "schema": "necroscope.verified/1",
        "verdict": verdict(found),
        "parts": found.parts,
        "bytes": found.bytes,
        "damaged": [
            {"path": str(one.path), "what": one.what, "aside": str(one.aside) if one.aside else None}
            for one in found.damaged
        ],
        "unverifiable": list(map(str, found.unverifiable)),
        "unreadable": found.unreadable,
        "foreign": list(map(str, found.foreign)),
        "aside": list(map(str, found.aside)),
    }


def verify_lines(found: Checked) -> Iterator[str]:
    """What was found, and the verdict last."""
    for one in found.damaged:
        moved = f"; set aside as {one.aside}" if one.aside else ""
        yield plain(f"damaged: {one.path}: {one.what}{moved}")
    for reason in found.unreadable:
        yield plain(f"cannot be read: {reason}")
    for path in found.foreign:
        yield plain(f"does not belong here, and is passed over: {path}")
    if found.unverifiable:
        older = plural(len(found.unverifiable), "part")
        yield f"not verifiable: {older} of an earlier version, without a manifest; their pages are right"
    if found.aside:
        yield f"set aside before: {plural(len(found.aside), 'segment')} in aside/"
    words = {"cannot-tell": "not everything can be told"}.get(verdict(found), verdict(found))
    yield f"{words}: {plural(found.parts, 'part')}, {size(found.bytes)}"
