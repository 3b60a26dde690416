"""Stacks that are left out, and stacks from the other end."""

from __future__ import annotations

import numpy as np
import pytest

from necroscope.query.profile.code_kind import CODE_KINDS, CodeKind, code_kind
from necroscope.query.profile.sifted import inverted, sifted, wanted_stacks
from necroscope.query.samples.sample_counts import SampleCounts, Task

READ = "main\x1fapp\x1eread\x1flibc.so.6\x1evfs_read\x1f[kernel]\x1e"
SPIN = "main\x1fapp\x1eSpin\x1fapp\x1e"


def _counts() -> SampleCounts:
    one = np.array([0, 1], np.int64)
    return SampleCounts(((0, 9),), (Task(1, 1, "a", ""),), (READ, SPIN), one * 0, one, one * 0, one + 3, one + 1.0)


def test_texts_are_looked_for_whatever_their_case() -> None:
    kept = sifted(_counts(), wanted_stacks("VFS_"))
    assert kept.samples.tolist() == [3]
    assert sifted(_counts(), wanted_stacks("spin")).samples.tolist() == [4]
    assert sifted(_counts(), wanted_stacks("", "kernel")).samples.tolist() == [4]
    assert sifted(_counts(), wanted_stacks("main", "libc")).samples.tolist() == [4]
    assert sifted(_counts(), wanted_stacks("nowhere")).samples.tolist() == []


def test_nothing_asked_for_leaves_nothing_out() -> None:
    assert wanted_stacks() is None
    counts = _counts()
    assert sifted(counts, None) is counts


def test_an_inverted_stack_begins_with_its_innermost_frame() -> None:
    assert inverted(_counts()).stacks == (
        "vfs_read\x1f[kernel]\x1eread\x1flibc.so.6\x1emain\x1fapp\x1e",
        "Spin\x1fapp\x1emain\x1fapp\x1e",
    )
    assert inverted(inverted(_counts())).stacks == _counts().stacks


@pytest.mark.parametrize(
    ("module", "kind"),
    [
        ("", "thread"),
        ("[cut]", "thread"),
        ("[kernel]", "kernel"),
        ("[nf_tables]", "kernel"),
        ("libc.so.6", "library"),
        ("[vdso]", "library"),
        ("[jit]", "jit"),
        ("[anon]", "jit"),
        ("[unknown]", "unknown"),
        ("./[kernel]", "program"),
        ("python3.11", "program"),
    ],
)
def test_the_kind_of_code(module: str, kind: CodeKind) -> None:
    assert code_kind(module) == kind
    assert kind in CODE_KINDS
