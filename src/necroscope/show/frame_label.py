"""What a frame is called where there is room for one word: its function, else the file it is in."""

from __future__ import annotations

from necroscope.sense.perf.samples import UNKNOWN


def frame_label(name: str, module: str) -> str:
    """`read`; `[libfoo.so]` for a function without a name, as flame graph tools and pprof write it; `[unknown]`."""
    if name not in (UNKNOWN, "") or module in (UNKNOWN, ""):
        return name
    return module if module.startswith("[") and module.endswith("]") else f"[{module}]"
