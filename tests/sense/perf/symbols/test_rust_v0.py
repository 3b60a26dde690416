"""Rust's v0 names: those that rustc 1.95 made of a program with every form, and names made to unfold."""

from __future__ import annotations

import time

import pytest

from necroscope.sense.perf.symbols.demangle import demangle
from necroscope.sense.perf.symbols.rust_v0 import readable


@pytest.mark.parametrize(
    ("mangled", "name"),
    [
        ("_RNvC5crate4main", "crate::main"),
        ("_RNvC6_123foo3bar", "123foo::bar"),
        ("_RNvMNtCsgEmfK2I1SDS_4core3numm12wrapping_add", "<u32>::wrapping_add"),
        ("_RINvCs32gj3y4fnmh_4main3genQStKb1_Kce9_EB2_", "main::gen::<&mut [u16], true, 'é'>"),
        ("_RINvCs32gj3y4fnmh_4main5applyNCNvB2_4mains_0EB2_", "main::apply::<main::main::{closure#1}>"),
        (
            "_RINvCs32gj3y4fnmh_4main3genINtNtCsgEmfK2I1SDS_4core6result6ResultuFaEzEKb0_Kc41_EB2_",
            "main::gen::<core::result::Result<(), fn(i8) -> !>, false, 'A'>",
        ),
        (
            "_RINvMNtCsgEmfK2I1SDS_4core6optionINtB3_6OptionReE11map_or_elseNtNtCslNYArtu3iFV_5alloc6string6StringNCNvNtB"
            "12_3fmt6format0NvYeNtNtB12_6borrow7ToOwned8to_ownedECs32gj3y4fnmh_4main",
            "<core::option::Option<&str>>::map_or_else::<alloc::string::String, alloc::fmt::format::{closure#0}, "
            "<str as alloc::borrow::ToOwned>::to_owned>",
        ),
        (
            "_RINvNtCsgEmfK2I1SDS_4core3ptr13drop_in_placeINtNtCslNYArtu3iFV_5alloc5boxed3BoxDG_INtNtNtB4_3ops8function2FnTmE"
            "Ep6OutputjEL_EEB1T_",
            "core::ptr::drop_in_place::<alloc::boxed::Box<dyn core::ops::function::Fn<(u32,), Output = usize>>>",
        ),
        ("_RNvNvC1a1b1c.llvm.1234", "a::b::c"),
        ("_RNCNCNvC1a1b00", "a::b::{closure#0}::{closure#0}"),
        ("_RINvC1a1fKln7f_Ahj4_E", "a::f::<-127, [u8; 4]>"),
        ("_RINvC1a1fFUKCPhOlElE", 'a::f::<unsafe extern "C" fn(*const u8, *mut i32) -> i32>'),
        ("_RNvC1au8caf_dma3run", None),
        ("_RNvNtC1au7caf_dma3run", "a::café::run"),
    ],
)
def test_names_are_readable(mangled: str, name: str | None) -> None:
    assert readable(mangled) == name
    assert demangle(mangled) == (name or mangled)


@pytest.mark.parametrize(
    "name", ["_R", "_RB_", "_RNvB_1a", "_RNvC9f", "_RNvC99999999999999999991a1f", "_RX", "_Rust", "_RNvC1aé1f", "_Z1av"]
)
def test_what_is_no_such_name_stays(name: str) -> None:
    assert readable(name) is None


def test_a_name_with_control_characters_stays() -> None:
    word = "a\x1bb".encode("punycode").decode().replace("-", "_")
    assert readable(f"_RNvNtC1au{len(word)}{word}1f") is None


def test_a_name_that_doubles_with_every_reference_stays_mangled() -> None:
    text, first = "INvC1a1fTmmE", len("INvC1a1f")
    for _ in range(60):
        here, back = len(text), _base_62(first)
        text, first = f"{text}TB{back}B{back}E", here
    began = time.monotonic()
    assert readable(f"_R{text}E") is None
    assert readable("_RINvC1a1f" + "R" * 900 + "mE") is None
    assert time.monotonic() - began < 0.5


def test_a_few_references_unfold() -> None:
    text = "INvC1a1fTmmETB7_B7_E"
    assert readable(f"_R{text}E") == "a::f::<(u32, u32), ((u32, u32), (u32, u32))>"


def _base_62(value: int) -> str:
    letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    text, value = "", value - 1
    while value >= 0:
        text = letters[value % 62] + text
        value = value // 62 - 1 if value < 62 else value // 62
    return f"{text}_"
