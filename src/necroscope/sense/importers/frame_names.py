"""Names of functions and files as other tools wrote them: text, without the characters that separate frames in ours."""

from __future__ import annotations

_SEPARATORS = str.maketrans("\x1e\x1f", "??")


def frame_name(data: bytes) -> str:
    """A name; what is no UTF-8 is replaced."""
    text = data.decode("utf-8", "replace")
    return text.translate(_SEPARATORS) if "\x1e" in text or "\x1f" in text else text
