"""Which of a stack's functions are the kernel's."""

from __future__ import annotations

import pytest

from necroscope.query.samples.kernel_frames import ends_in_kernel, kernel_functions
from stage.looked import text


@pytest.mark.parametrize(
    ("module", "kernel"),
    [
        ("[kernel]", True),
        ("[nf_tables]", True),
        ("[bpf]", True),
        ("", True),
        ("[jit]", False),
        ("[vdso]", False),
        ("[unknown]", False),
        ("[anon]", False),
        ("./[kernel]", False),
        ("libc.so.6", False),
    ],
)
def test_only_what_the_kernel_is_counts(module: str, kernel: bool) -> None:
    assert kernel_functions(text((("mem_cgroup_iter", module),))) == (["mem_cgroup_iter"] if kernel else [])


def test_what_compilers_append_is_no_part_of_a_name() -> None:
    frames = (("shrink_slab.constprop.0", "[kernel]"), ("find_next_bit.isra.0.cold", "[kernel]"), ("x", "[kernel]"))
    assert kernel_functions(text(frames)) == ["shrink_slab", "find_next_bit", "x"]
    assert kernel_functions("") == []


def test_the_innermost_function_tells_where_somebody_was() -> None:
    assert ends_in_kernel(text((("main", "app"), ("read", "[kernel]"))))
    assert not ends_in_kernel(text((("read", "[kernel]"), ("main", "[jit]"))))
    assert not ends_in_kernel("")
