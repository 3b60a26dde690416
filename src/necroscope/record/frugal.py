"""The recorder's memory stays small: what was needed for a moment goes back to the kernel.

Left alone, the C library keeps an arena for each thread and whatever large arrays once took, and Arrow keeps a pool of
its own beside it: after some segments that is as much memory again as the recorder needs.
"""

from __future__ import annotations

import contextlib
import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
_LARGE = 1 << 18


def begin() -> None:
    """One arena, large pieces by themselves, and Arrow beside the rest. To be called before there are threads."""
    # What writes segments comes in now rather than with the first one: memory then stays what it is.
    import pyarrow as pa
    import pyarrow.compute
    import pyarrow.parquet

    pa.set_memory_pool(pa.system_memory_pool())
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None)
        libc.mallopt(_ARENA_MAX, 1)
        libc.mallopt(_MMAP_THRESHOLD, _LARGE)
        libc.mallopt(_TRIM_THRESHOLD, _LARGE)


def give_back() -> None:
    """Return what is free. Takes a few milliseconds; a C library that cannot do it is left alone."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
