from __future__ import annotations

import pytest

from necroscope.sense.kernel.bpf.assembler import R0, R1, R2, R6, Assembler


def test_instructions_are_encoded_as_the_kernel_documents_them() -> None:
    code = Assembler()
    code.copy(R6, R1)
    code.load(R2, R6, 8)
    code.store(R6, -16, R2)
    code.set(R0, -1)
    code.call(113)
    assert bytes(code) == bytes.fromhex(
        "bf16000000000000 7962080000000000 7b26f0ff00000000 b7000000ffffffff 8500000071000000"
    )


def test_the_address_of_a_map_value_takes_two_slots() -> None:
    code = Assembler()
    code.map_value(R1, 5, 64)
    assert bytes(code) == bytes.fromhex("1821000005000000 0000000040000000")


def test_jumps_count_from_the_next_instruction_both_ways() -> None:
    code = Assembler()
    code.label("top")
    code.jump_if(R1, ">=", 7, "end")
    code.jump_if_register(R1, "==", R2, "end")
    code.jump("top")
    code.label("end")
    code.exit()
    assert bytes(code) == bytes.fromhex(
        "3501020007000000 1d21010000000000 0500fdff00000000 b700000000000000 9500000000000000"
    )


def test_a_jump_to_nowhere_is_a_mistake_of_ours() -> None:
    code = Assembler()
    code.jump("nowhere")
    with pytest.raises(KeyError):
        bytes(code)
