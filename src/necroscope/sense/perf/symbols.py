"""Names for addresses at the time of capture: the kernel's, files', the vdso's, and code made at run time.

Every answer is kept with its table (one number per symbol), so that a name is decoded and demangled once.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.perf.demangle import demangle
from necroscope.sense.perf.elf import Elf, parse_build_id
from necroscope.sense.perf.frames import FrameTable
from necroscope.sense.perf.jit import JIT_MODULE, JitMaps
from necroscope.sense.perf.kallsyms import KERNEL_MODULE, KernelSymbols, parse_kallsyms, reference_address
from necroscope.sense.perf.objects import ObjectFiles, module_name
from necroscope.sense.perf.programs import BPF, Programs
from necroscope.sense.perf.samples import UNKNOWN
from necroscope.sense.perf.sideband import MappedFile
from necroscope.sense.perf.symtab import SymbolTable

U64s = NDArray[np.uint64]
I64s = NDArray[np.int64]
I32s = NDArray[np.int32]
_KALLSYMS_LIMIT = 128 << 20
_UNRESOLVED = 1 << 14
_LIVE_TABLES = 16 << 20
VDSO = "[vdso]"


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A place without a name: which file, which build of it, and where in it. Later symbols can be laid over these."""

    module: str
    build_id: str
    offset: int
    count: int


@dataclass(frozen=True, slots=True)
class Kernel:
    """One boot of a kernel: its build id ("" when unknown), its symbols, and where `_text` and `_stext` are."""

    build_id: str
    symbols: KernelSymbols
    references: dict[str, int]


class _Numbered:
    """A table's symbols as frame numbers, filled as they are needed."""

    def __init__(self, size: int) -> None:
        self._generation = 0
        self.numbers = np.full(size, -1, np.int32)

    def of(self, places: I64s, frames: FrameTable, spell: Callable[[int], tuple[str, str]]) -> I32s:
        if self._generation != frames.generation:
            self._generation = frames.generation
            self.numbers.fill(-1)
        numbers: I32s = self.numbers[places]
        fresh = places[numbers < 0]
        if not fresh.size:
            return numbers
        for place in set(fresh.tolist()):
            self.numbers[place] = frames.number(*spell(place))
        return self.numbers[places]


class Symbols:
    """All sources of names of one recording. `files` is the decoder's list of mapped files, by number.

    While `name_programs` is false, no file of a program is asked for: its functions have no names.
    """

    def __init__(self, kernel: Kernel | None, objects: ObjectFiles | None, jit: JitMaps | None = None) -> None:
        self.kernel_state = 0
        self.files: list[MappedFile] = []
        self.objects = objects
        self.name_programs = True
        self._kernel = kernel.symbols if kernel else None
        self._references = kernel.references if kernel else {}
        self._jit = jit
        self.programs = Programs()
        self._vdso: SymbolTable | bool | None = False
        self._unresolved: Counter[tuple[str, str, int]] = Counter()

    # -- the kernel ----------------------------------------------------------------------------------------

    def use_kernel(self, kernel: Kernel | None) -> None:
        """Other kernel symbols from now on: read again, or a file's instead of the running kernel's."""
        self._kernel = kernel.symbols if kernel else None
        self._references = kernel.references if kernel else {}
        # Any value that differs from the last ones: it goes into the keys under which answers are remembered.
        self.kernel_state = (self.kernel_state + 0x9E3779B97F4A7C15) % (1 << 63)

    @property
    def knows_kernel(self) -> bool:
        """Whether there are kernel symbols at all."""
        return self._kernel is not None

    def kernel_mapped(self, reference: str, address: int) -> None:
        """The recording says where its kernel had put `_text`: another boot may have put it elsewhere."""
        here = self._references.get(reference)
        if self._kernel is not None and here is not None and address and here != address:
            self.use_kernel(Kernel("", self._kernel.moved(address - here), {reference: address}))

    def kernel(self, addresses: U64s, frames: FrameTable) -> tuple[I32s, NDArray[np.bool_]]:
        """The frame of each kernel address, and whether that will hold: programs come and go at the same places."""
        numbers = np.full(addresses.size, frames.unknown(KERNEL_MODULE), np.int32)
        if self._kernel is not None:
            numbers[~self._kernel.covers(addresses)] = frames.unknown(UNKNOWN)
            places = self._kernel.find(addresses)
            found = places >= 0
            numbered = self._numbers_of(self._kernel.table)
            numbers[found] = numbered.of(places[found], frames, self._kernel.name)
        passing = [
            one for one in np.unique(numbers).tolist() if frames.modules[one] == BPF or frames.names[one] == UNKNOWN
        ]
        return numbers, ~np.isin(numbers, passing)

    # -- processes -----------------------------------------------------------------------------------------

    def user(self, file: int, offsets: U64s, addresses: U64s, pid: int, frames: FrameTable) -> tuple[I32s, bool]:
        """The frame of each place in a mapped file (in memory, for code made there), and whether that is final."""
        mapped = self.files[file]
        table, final = self._table(mapped, pid)
        jit = table is not None and _made_at_run_time(mapped.path)
        module = JIT_MODULE if jit else module_name(mapped.path)
        numbers = np.full(offsets.size, frames.unknown(module), np.int32)
        found = np.zeros(offsets.size, np.bool_)
        if table is not None:
            places = table.find(addresses if jit else offsets)
            found = places >= 0
            numbers[found] = self._numbers_of(table).of(
                places[found], frames, lambda place: (demangle(table.name(place)), module)
            )
        if final and not found.all():
            self._note(module, mapped, offsets[~found])
        return numbers, final and not jit

    def unresolved(self) -> list[Unresolved]:
        """Places without a name so far, the most frequent first."""
        return [Unresolved(*place, count) for place, count in self._unresolved.most_common()]

    def _table(self, mapped: MappedFile, pid: int) -> tuple[SymbolTable | None, bool]:
        if mapped.path == VDSO:
            return self._own_vdso(), True
        if not self.name_programs:
            return None, True
        if _made_at_run_time(mapped.path):
            return (self._jit.table(pid) if self._jit else None), True
        if self.objects is None or not mapped.path.startswith("/"):
            return None, True
        return self.objects.ask(mapped, pid)

    def _own_vdso(self) -> SymbolTable | None:
        """All processes of one kernel have the same; ours will do."""
        if isinstance(self._vdso, bool):
            self._vdso = None
            if self.objects is not None and not self.objects.host.captured:
                with contextlib.suppress(Unavailable, OSError, ValueError):
                    self._vdso = _read_vdso(self.objects.host)
        return self._vdso

    @staticmethod
    def _numbers_of(table: SymbolTable) -> _Numbered:
        """Kept with the table, so that both go together."""
        if not isinstance(table.numbers, _Numbered):
            table.numbers = _Numbered(len(table))
        return table.numbers

    def _note(self, module: str, mapped: MappedFile, offsets: U64s) -> None:
        if len(self._unresolved) < _UNRESOLVED:
            self._unresolved.update((module, mapped.build_id, offset) for offset in offsets.tolist()[:1024])


def _made_at_run_time(path: str) -> bool:
    return path.startswith(("//anon", "/dev/zero", "/memfd:", "/anon_hugepage", "[heap]", "anon_inode:"))


def _read_vdso(host: Host) -> SymbolTable:
    line = re.search(rb"^([0-9a-f]+)-([0-9a-f]+) .*\[vdso\]$", host.read("/proc/self/maps"), re.MULTILINE)
    if line is None:
        raise Unavailable("this process has no vdso")
    low, high = int(line[1], 16), int(line[2], 16)
    with host.live_path("/proc/self/mem").open("rb", buffering=0) as memory:
        memory.seek(low)
        image = memory.read(min(high - low, 1 << 20))
    return Elf(lambda offset, size: image[offset : offset + size]).symbols()


def running_kernel(host: Host) -> Kernel:
    """Read this kernel's symbols. Raises `Unavailable` when they may not be seen."""
    data = host.read("/proc/kallsyms", _KALLSYMS_LIMIT)
    notes = host.read_or_none("/sys/kernel/notes", 1 << 16) or b""
    return kernel_from(data, parse_build_id(notes))


def kernel_from(kallsyms: bytes, build_id: str = "") -> Kernel:
    """A kernel from the text of its kallsyms."""
    places = {name: reference_address(kallsyms, name) for name in ("_text", "_stext")}
    found = {name: address for name, address in places.items() if address is not None}
    return Kernel(build_id, parse_kallsyms(kallsyms), found)


def live_symbols(host: Host, wait_s: float = 0.1) -> tuple[Symbols, Unavailable | None]:
    """Names for what runs here now, and why the kernel's are missing when they are.

    One feed of the decoder waits for files `wait_s` at most; what is not read by then is named the next time.
    """
    objects, jit = ObjectFiles(host, wait_s, memory=_LIVE_TABLES), JitMaps(host)
    try:
        return Symbols(running_kernel(host), objects, jit), None
    except Unavailable as error:
        return Symbols(None, objects, jit), error
