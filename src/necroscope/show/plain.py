"""Text from a node made safe for a terminal: names may hold escape sequences, newlines and broken UTF-8."""

from __future__ import annotations

from typing import Any


def plain(text: str) -> str:
    """The text with everything unprintable written out as `\\x1b`; what is left cannot move a cursor."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that was no UTF-8 (surrogateescape)
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def shortened(text: str, width: int) -> str:
    """At most `width` characters, cut in the middle: both ends of a path say more than its centre."""
    if len(text) <= width or width < 5:
        return text
    head = (width - 1) // 2
    return f"{text[:head]}…{text[head + 1 - width :]}"


def valid(value: Any) -> Any:
    """The JSON value with every string made valid Unicode; bytes that were no UTF-8 are written out as `\\x80`."""
    if isinstance(value, str):
        return value if value.isascii() else "".join(_escaped(c) if 0xD800 <= ord(c) <= 0xDFFF else c for c in value)
    if isinstance(value, dict):
        return {key: valid(item) for key, item in value.items()}
    return [valid(item) for item in value] if isinstance(value, list) else value
