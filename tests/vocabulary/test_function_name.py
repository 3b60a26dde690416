"""What a function is called in the source."""

from __future__ import annotations

import pytest

from necroscope.vocabulary.function_name import without_suffix


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("shrink_slab", "shrink_slab"),
        ("smaps_pte_range.isra.0", "smaps_pte_range"),
        ("find_next_bit.constprop.0.cold", "find_next_bit"),
        ("__schedule.part.12", "__schedule"),
        ("do_idle.llvm.1234567", "do_idle"),
        (".text", ".text"),
        ("", ""),
    ],
)
def test_what_compilers_append_is_no_part_of_a_name(name: str, source: str) -> None:
    assert without_suffix(name) == source
