"""What a function is called in the source, whatever a compiler made of it."""

from __future__ import annotations


def without_suffix(name: str) -> str:
    """Without `.isra.0`, `.constprop.0`, `.cold` and the like, with which compilers mark parts of a function."""
    return name.partition(".")[0] or name
