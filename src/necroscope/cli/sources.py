"""Which host a verb reads: this one, a captured folder, or a bundle unpacked for the time being."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from necroscope.errors import BadInput
from necroscope.sense.host import Host


@contextmanager
def open_host(root: Path | None, bundle: Path | None) -> Iterator[Host]:
    """The host to read; a bundle is unpacked into a temporary folder that is gone afterwards."""
    if root is not None and bundle is not None:
        raise BadInput("--root and --bundle exclude each other.", "give one of them")
    if bundle is None:
        yield Host() if root is None else Host(root)
        return
    from necroscope.store.bundle import unpack

    with tempfile.TemporaryDirectory(prefix="necroscope-bundle-") as folder:
        unpack(bundle, Path(folder))
        yield Host(Path(folder))
