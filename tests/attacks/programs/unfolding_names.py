"""A map whose only name unfolds to gigabytes, for all of memory."""

import time
from pathlib import Path

from running import EVERYTHING, arguments, with_map


def bomb() -> bytes:
    """Every parameter is a template of the one before, three times."""
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    text, last = "_Z1f1a1cIS_S_S_E", "S1_"
    for number in range(2, 46):
        text += f"S0_I{last * 3}E"
        last = f"S{digits[number // 36] if number >= 36 else ''}{digits[number % 36]}_"
    return text.encode()


def write(path: Path) -> None:
    path.write_bytes(EVERYTHING + bomb() + b"\n")


ends, _, _ = arguments()
while time.monotonic() < ends:
    with_map(write)
