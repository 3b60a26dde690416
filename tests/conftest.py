"""What the tests share: visible skips for what a machine lacks, and cgroups of their own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that need root say so; elsewhere they are skipped, visibly."""
    if os.geteuid() == 0 and Path("/proc/self").exists():
        return
    for item in items:
        if item.get_closest_marker("root"):
            item.add_marker(pytest.mark.skip(reason="needs root on a real Linux kernel"))
