"""The decoder's tests run twice: with its inner loops in C, and with NumPy doing the same."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest

from necroscope.sense.perf.decode import native

_BOTH_WAYS = {"test_walk", "test_columns", "test_hashing", "test_stream", "test_recordings", "test_native"}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """C and NumPy for the modules whose code has both."""
    if metafunc.module.__name__.rpartition(".")[2] in _BOTH_WAYS:
        metafunc.parametrize("inner_loops", ["c", "numpy"], indirect=True, scope="module")


@pytest.fixture(scope="module", autouse=True)
def inner_loops(request: pytest.FixtureRequest) -> Iterator[str]:
    """Which way is taken; the machine's own choice where the module has but one."""
    way = getattr(request, "param", "")
    before = os.environ.get(native.SWITCH)
    if way:
        os.environ[native.SWITCH] = "0" if way == "numpy" else "1"
        native.loops.cache_clear()
        if way == "c" and native.loops() is None:
            if shutil.which("cc") is None and not native.LIBRARY.exists():
                pytest.skip("no C compiler, so the C loops were not built")
            pytest.fail("the C loops were not built, or are not those of this version: run make setup")
    yield way
    if before is None:
        os.environ.pop(native.SWITCH, None)
    else:
        os.environ[native.SWITCH] = before
    native.loops.cache_clear()
