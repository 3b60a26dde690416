"""A store to export from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from stage.exported import fill


@pytest.fixture(scope="package")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two sealed segments, and a journal."""
    folder = tmp_path_factory.mktemp("store")
    writer = fill(folder)
    yield folder
    writer.close()


@pytest.fixture(scope="package")
def cycles(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The same samples, triggered by cycles: their weight is no time."""
    folder = tmp_path_factory.mktemp("cycles")
    writer = fill(folder, "cycles:P")
    yield folder
    writer.close()
