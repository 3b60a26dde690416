"""One recorded incident, served."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from stage.incidents import INCIDENTS, unpacked
from stage.served import Served, serving


@pytest.fixture(scope="package")
def gpu_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """41 s of a machine with 16 cores, of which core 9 is full for 6 s before the second symptom."""
    return unpacked(INCIDENTS / "gpu-training.ncb", tmp_path_factory.mktemp("gpu"))


@pytest.fixture(scope="package")
def gpu(gpu_store: Path) -> Iterator[Served]:
    with serving(gpu_store, "gpu-training.ncb") as served:
        yield served
