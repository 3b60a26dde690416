"""The kernel is asked for a field of perf events; what it refuses as invalid is not asked of perf."""

from __future__ import annotations

import errno
import os

import pytest

from necroscope.sense.perf.launch.kernel_support import unknown_to_kernel

CGROUP, BUILD_ID = 1 << 21, 1 << 34


def _kernel(lacks_sample: int = 0, lacks_flag: int = 0) -> list[str]:
    """The features that a kernel refuses that knows everything but these bits."""

    def opened(attr: bytes) -> int:
        sample_type, flags = (int.from_bytes(attr[at : at + 8], "little") for at in (24, 40))
        return errno.EINVAL if sample_type & lacks_sample or flags & lacks_flag else 0

    return [one.name for one in unknown_to_kernel(opened)]


def test_each_field_is_asked_for_alone() -> None:
    assert _kernel() == []
    assert _kernel(lacks_sample=CGROUP) == ["cgroups"], "Linux 5.7 to 5.11 lack the other"
    assert _kernel(lacks_flag=BUILD_ID) == ["build-ids"]
    assert _kernel(CGROUP, BUILD_ID) == ["build-ids", "cgroups"]


def test_a_kernel_that_may_not_be_asked_is_not_said_to_lack_anything() -> None:
    assert unknown_to_kernel(lambda _: errno.EACCES) == []


@pytest.mark.root
@pytest.mark.skipif(tuple(map(int, os.uname().release.split(".")[:2])) < (5, 12), reason="needs Linux 5.12")
def test_this_kernel_knows_them() -> None:
    assert unknown_to_kernel() == []
