"""The recorder's memory stays small: what was needed for a moment goes back to the kernel.

Left alone, the C library keeps an arena for each thread and whatever large arrays once took, and Arrow keeps a pool of
its own beside it: after some segments that is as much memory again as the recorder needs.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from typing import Any

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
_LARGE = 1 << 22


def begin() -> None:
    """One arena, large pieces by themselves, and Arrow beside the rest. To be called before anything loads NumPy or
    Arrow, and before there are threads."""
    # NumPy would start a thread on every CPU for algebra that nobody does here.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Arrow decides when it is loaded; its own allocators keep what they once had.
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    # What writes segments comes in now rather than with the first one: memory then stays what it is.
    import pyarrow as pa
    import pyarrow.compute
    import pyarrow.parquet

    pa.set_memory_pool(pa.system_memory_pool())
    _warm_up(pa, pyarrow.parquet)
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None)
        libc.mallopt(_ARENA_MAX, 1)
        libc.mallopt(_MMAP_THRESHOLD, _LARGE)
        libc.mallopt(_TRIM_THRESHOLD, _LARGE)


def _warm_up(pa: Any, pq: Any) -> None:
    """Write a small table to memory, so that the code for it is there from the start, too."""
    times, texts = pa.array(range(64), pa.int64()), pa.array([str(number) for number in range(64)]).dictionary_encode()
    table = pa.table({"at_ns": times, "text": texts}).sort_by("at_ns").group_by("text").aggregate([("at_ns", "max")])
    encodings = {"at_ns_max": "DELTA_BINARY_PACKED"}
    with pq.ParquetWriter(
        pa.BufferOutputStream(), table.schema, compression="zstd", use_dictionary=["text"], column_encoding=encodings
    ) as writer:
        writer.write_table(table)


def give_back() -> None:
    """Return what is free. Takes a few milliseconds; a C library that cannot do it is left alone."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
