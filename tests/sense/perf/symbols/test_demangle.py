"""Readable names."""

from __future__ import annotations

from ctypes.util import find_library

import pytest

from necroscope.sense.perf.symbols import demangle as module
from necroscope.sense.perf.symbols.demangle import demangle

needs_library = pytest.mark.skipif(find_library("stdc++") is None, reason="no C++ runtime here (Debian: libstdc++6)")


@needs_library
@pytest.mark.parametrize(
    ("mangled", "readable"),
    [
        ("_ZN3foo3barEi", "foo::bar"),
        ("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back"),
        ("_Z4pickIiET_S0_", "pick<int>"),
        ("_ZN12_GLOBAL__N_14workEv", "(anonymous namespace)::work"),
        ("_ZNK1AltERKS_", "A::operator<"),
        ("_ZN1AclEv", "A::operator()()"),
        ("_ZTV3Foo", "vtable for Foo"),
        ("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"),
        (
            "_ZN58_$LT$alloc..string..String$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE",
            "<alloc::string::String as core::fmt::Debug>::fmt",
        ),
    ],
)
def test_names_are_readable_and_short(mangled: str, readable: str) -> None:
    assert demangle(mangled) == readable


@pytest.mark.parametrize("name", ["main", "_start", "_Znot mangled", "_RNvC5crate", "_Z" + "N" * 5000, ""])
def test_other_names_stay(name: str) -> None:
    assert demangle(name) == name


def test_without_the_library_names_stay_mangled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_library", lambda: None)
    assert demangle("_ZN5alone4hereEv") == "_ZN5alone4hereEv"
