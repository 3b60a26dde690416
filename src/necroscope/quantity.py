"""Numbers and spans as people read them: 68,440; 4.2 GiB; 6 d 23 h. Nothing here decides anything."""

from __future__ import annotations


def count(number: float) -> str:
    """68440 -> 68,440."""
    return f"{number:,.0f}"


def plural(number: int, one: str, many: str = "") -> str:
    """1 zombie, 2 zombies."""
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def span(seconds: float) -> str:
    """Two units at most: 11 s, 4 min 10 s, 6 d 23 h."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    for size, unit, below, lesser in ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            rest = whole % size // below
            return f"{whole // size} {unit} {rest} {lesser}" if rest else f"{whole // size} {unit}"
    return f"{whole} s"


def size(number: int) -> str:
    """Bytes in binary units: 4.2 GiB."""
    value = float(number)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1024:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def share(part: float) -> str:
    """0.934 -> 93 %."""
    return f"{100 * part:.0f} %"
