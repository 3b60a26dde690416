"""A small assembler for BPF programs: named instructions, labels, nothing clever.

Instruction: u8 opcode | u8 registers (source in the upper half) | i16 jump or memory offset | i32 constant.
An opcode is a class (what kind), an operation and a source (constant or register), or a class, a width and a mode.
"""

from __future__ import annotations

import struct

R0, R1, R2, R3, R4, R5, R6, R7, R8, R9 = range(10)

_LOAD_CONSTANT, _LOAD, _STORE, _JUMP, _ALU64 = 0x00, 0x01, 0x03, 0x05, 0x07
_FROM_CONSTANT, _FROM_REGISTER = 0x00, 0x08
_WIDTH_64, _MODE_IMMEDIATE, _MODE_MEMORY = 0x18, 0x00, 0x60
_ADD, _SUB, _AND, _MOV = 0x00, 0x10, 0x50, 0xB0
_ALWAYS, _CALL, _EXIT = 0x00, 0x80, 0x90
_CONDITIONS = {"==": 0x10, ">": 0x20, ">=": 0x30, "&": 0x40, "!=": 0x50, "<": 0xA0, "<=": 0xB0}
_PSEUDO_MAP_VALUE = 2


class Assembler:
    """Collects instructions; `bytes()` resolves the labels. Constants are signed 32 bit, comparisons unsigned."""

    def __init__(self) -> None:
        self._code: list[tuple[int, int, int, int, int]] = []
        self._labels: dict[str, int] = {}
        self._jumps: list[tuple[int, str]] = []

    def label(self, name: str) -> None:
        """The next instruction is where `name` jumps to."""
        self._labels[name] = len(self._code)

    def set(self, to: int, value: int) -> None:
        """to = value"""
        self._emit(_ALU64 | _MOV | _FROM_CONSTANT, to, constant=value)

    def copy(self, to: int, source: int) -> None:
        """to = source"""
        self._emit(_ALU64 | _MOV | _FROM_REGISTER, to, source)

    def add(self, to: int, value: int) -> None:
        """to += value"""
        self._emit(_ALU64 | _ADD | _FROM_CONSTANT, to, constant=value)

    def add_register(self, to: int, source: int) -> None:
        """to += source"""
        self._emit(_ALU64 | _ADD | _FROM_REGISTER, to, source)

    def subtract_register(self, to: int, source: int) -> None:
        """to -= source"""
        self._emit(_ALU64 | _SUB | _FROM_REGISTER, to, source)

    def mask(self, to: int, value: int) -> None:
        """to &= value"""
        self._emit(_ALU64 | _AND | _FROM_CONSTANT, to, constant=value)

    def load(self, to: int, base: int, offset: int = 0) -> None:
        """to = 64 bits at base + offset"""
        self._emit(_LOAD | _WIDTH_64 | _MODE_MEMORY, to, base, offset)

    def store(self, base: int, offset: int, source: int) -> None:
        """64 bits at base + offset = source"""
        self._emit(_STORE | _WIDTH_64 | _MODE_MEMORY, base, source, offset)

    def map_value(self, to: int, map_fd: int, offset: int = 0) -> None:
        """to = the address of the map's only value, plus offset (an instruction of two slots)"""
        self._emit(_LOAD_CONSTANT | _WIDTH_64 | _MODE_IMMEDIATE, to, _PSEUDO_MAP_VALUE, constant=map_fd)
        self._emit(0, constant=offset)

    def jump(self, label: str) -> None:
        """Go to label."""
        self._jumps.append((len(self._code), label))
        self._emit(_JUMP | _ALWAYS)

    def jump_if(self, left: int, condition: str, right: int, label: str) -> None:
        """Go to label when register `left` compares so with the constant."""
        self._jumps.append((len(self._code), label))
        self._emit(_JUMP | _CONDITIONS[condition] | _FROM_CONSTANT, left, constant=right)

    def jump_if_register(self, left: int, condition: str, right: int, label: str) -> None:
        """Go to label when register `left` compares so with register `right`."""
        self._jumps.append((len(self._code), label))
        self._emit(_JUMP | _CONDITIONS[condition] | _FROM_REGISTER, left, right)

    def call(self, helper: int) -> None:
        """r0 = helper(r1 ... r5); r1 to r5 are lost."""
        self._emit(_JUMP | _CALL, constant=helper)

    def exit(self, status: int = 0) -> None:
        """Return `status`."""
        self.set(R0, status)
        self._emit(_JUMP | _EXIT)

    def __bytes__(self) -> bytes:
        code = list(self._code)
        for at, label in self._jumps:
            opcode, to, source, _, constant = code[at]
            code[at] = (opcode, to, source, self._labels[label] - at - 1, constant)
        return b"".join(
            struct.pack("<BBhi", opcode, source << 4 | to, offset, constant)
            for opcode, to, source, offset, constant in code
        )

    def _emit(self, opcode: int, to: int = 0, source: int = 0, offset: int = 0, constant: int = 0) -> None:
        self._code.append((opcode, to, source, offset, constant))
