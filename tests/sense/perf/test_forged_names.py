"""Names that somebody chose to look like something else: the kernel, an idle core, another frame."""

from __future__ import annotations

import numpy as np
import pytest
from perf.stream_builder import HEADER, USER, Maker, attr

from necroscope.sense.importers.perf_script.lines import named_module, parse_frame
from necroscope.sense.perf.decode.stream import Decoder
from necroscope.sense.perf.format.sideband import MappedFile
from necroscope.sense.perf.idle import is_idle
from necroscope.sense.perf.modules import in_kernel, module_name
from necroscope.sense.perf.samples import SampleBatch, canonical_frame
from necroscope.sense.perf.symbols.frames import FrameTable
from necroscope.sense.perf.symbols.objects import ObjectFiles
from necroscope.sense.perf.symbols.symbols import Symbols

on = Maker()


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("/usr/lib/libc.so.6", "libc.so.6"),
        ("/tmp/gone (deleted)", "gone"),
        ("//anon", "[anon]"),
        ("[vdso]", "[vdso]"),
        ("[heap]", "[heap]"),
        ("", "[anon]"),
        ("/odd/\udcff", "\ufffd"),
        ("/tmp/[kernel]", "./[kernel]"),
        ("/tmp/[vdso] (deleted)", "./[vdso]"),
        ("/tmp/\x1e[kernel]", "./[kernel]"),
        ("/tmp/\x1f", "[anon]"),
        ("/memfd:a/[kernel] (deleted)", "./[kernel]"),
        ("[anon:kernel]", "[anon]"),
        ("[nf_tables]", "[anon]"),
        ("anon_inode:[x]", "[anon]"),
        ("/a;b\nc", "a:bc"),
    ],
)
def test_no_file_is_called_like_a_kind_of_code(path: str, wanted: str) -> None:
    assert module_name(path) == wanted
    assert not in_kernel(module_name(path))


def test_no_name_ends_a_frame_and_begins_another() -> None:
    table = FrameTable()
    number = table.number("f\x1fx\x1edefault_idle\x1f[kernel]\x1e\n", "game\x1e")
    assert table.canonical[number] == b"fxdefault_idle[kernel]\x1fgame\x1e"
    assert table.names[number] == "fxdefault_idle[kernel]"
    assert canonical_frame("a\x1e", "b\x1e") == b"a\x1fb\x1e"
    assert table.canonical[table.number("a\ud800", "b")] == "a\ufffd\x1fb\x1e".encode()


def test_a_binary_called_kernel_is_not_idle() -> None:
    class Named(ObjectFiles):
        def names(self, file, pid, space):  # type: ignore[no-untyped-def]
            return Everything(), True

    decoder = Decoder(Symbols(None, Named(None)))  # type: ignore[arg-type]
    parts = on.mmap2(1, 5, 0x1000, 0x1000, "/tmp/[kernel]", inode=3), on.sample(2, 5, (USER, 0x1010))
    rows = decoder.feed(HEADER + attr() + b"".join(parts)) + decoder.finish()
    stacks = [stack for row in rows if isinstance(row, SampleBatch) for stack in row.stacks]
    assert [(one.frames, one.modules) for one in stacks] == [(("default_idle",), ("./[kernel]",))]
    assert not is_idle(stacks[0].text)


class Everything:
    """A table in which every place is an idle loop."""

    numbers: object = None

    def __len__(self) -> int:
        return 1

    def find(self, places: np.ndarray) -> np.ndarray:
        return np.zeros(places.size, np.int64)

    def readable(self, place: int) -> str:
        return "default_idle"


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        (b"\tffffffff821e81e7 default_idle+0x7 ([kernel.kallsyms])", ("default_idle", "[kernel]")),
        (b"\t          401000 default_idle+0x7 ([kernel.kallsyms])", ("default_idle", "[anon]")),
        (b"\t          401000 default_idle+0x7 (/tmp/[kernel])", ("default_idle", "./[kernel]")),
        (b"\t          401000 default_idle+0x7 (/tmp/vmlinux)", ("default_idle", "vmlinux")),
        (b"\t          401000 f+0x7 (/tmp/evil.ko)", ("f", "evil.ko")),
        (b"\tffffffffc01e81e7 f+0x7 ([nf_tables])", ("f", "[nf_tables]")),
        (b"\t          401000 f+0x7 ([nf_tables])", ("f", "[anon]")),
        (b"\t          401000 bpf_prog_x+0x7 (/tmp/a)", ("bpf_prog_x", "a")),
        (b"\tffffffffc01e81e7 bpf_prog_x+0x7 (bpf_prog_x)", ("bpf_prog_x", "[bpf]")),
        (b"\t    7ffd1e9f7a10 f+0x7 ([vdso])", ("f", "[vdso]")),
    ],
)
def test_text_of_perf_is_believed_as_far_as_its_addresses_allow(line: bytes, wanted: tuple[str, str]) -> None:
    assert parse_frame(line) == wanted


def test_without_an_address_the_name_is_all_there_is() -> None:
    assert named_module("[kernel.kallsyms]") == "[kernel]"
    assert named_module("[nf_tables]") == "[nf_tables]"


def test_two_processes_with_code_of_their_own_at_one_address() -> None:
    class Own(ObjectFiles):
        def names(self, file: MappedFile, pid: int, space: int):  # type: ignore[no-untyped-def]
            table = Everything()
            table.readable = lambda place: f"code_of_{pid}"  # type: ignore[method-assign]
            return table, False

    decoder = Decoder(Symbols(None, Own(None)))  # type: ignore[arg-type]
    parts = [on.mmap2(1, pid, 0x7F0000000000, 0x1000, "//anon") for pid in (5, 6)]
    parts += [on.sample(2 + pid, pid, (USER, 0x7F0000000010)) for pid in (5, 6)]
    rows = decoder.feed(HEADER + attr() + b"".join(parts)) + decoder.finish()
    batch = next(row for row in rows if isinstance(row, SampleBatch))
    name_of = {stack.stack_id: stack.frames[0] for stack in batch.stacks}
    assert [name_of[one] for one in batch.stack_id.tolist()] == ["code_of_5", "code_of_6"]


def test_a_time_that_cannot_be_ends_nothing() -> None:
    decoder = Decoder(Symbols(None, None))
    late = (1 << 64) - 2
    rows = decoder.feed(HEADER + attr() + on.sample(late, 1) + on.sample(7, 1) + on.comm(late, 1, "x"))
    rows += decoder.feed(on.sample(8, 1) + on.comm(9, 1, "y")) + decoder.finish()
    times = [at for row in rows if isinstance(row, SampleBatch) for at in row.at_ns.tolist()]
    assert times == [7, 8, (1 << 63) - 1]
