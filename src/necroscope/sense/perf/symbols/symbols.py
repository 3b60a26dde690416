"""Names for addresses at the time of capture: the kernel's, files', the vdso's, and code made at run time.

Every answer is kept with its table (one number per symbol), so that a name is decoded and demangled once.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.perf.format.sideband import MappedFile
from necroscope.sense.perf.modules import module_name
from necroscope.sense.perf.samples import UNKNOWN
from necroscope.sense.perf.symbols.bpf_programs import BPF, Programs
from necroscope.sense.perf.symbols.elf import Elf, parse_build_id
from necroscope.sense.perf.symbols.frames import FrameTable
from necroscope.sense.perf.symbols.jit import JIT_MODULE, made_at_run_time
from necroscope.sense.perf.symbols.kallsyms import KERNEL_MODULE, KernelSymbols, parse_kallsyms, reference_address
from necroscope.sense.perf.symbols.objects import ObjectFiles
from necroscope.sense.perf.symbols.ranges import NOT_KNOWN, KnownRanges
from necroscope.sense.perf.symbols.symtab import SymbolTable

if TYPE_CHECKING:
    from necroscope.sense.perf.symbols.live_names import LiveNames

U64s = NDArray[np.uint64]
I64s = NDArray[np.int64]
I32s = NDArray[np.int32]
_KALLSYMS_LIMIT = 128 << 20
_UNRESOLVED = 1 << 14
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

    def __init__(self, kernel: Kernel | None, objects: ObjectFiles | LiveNames | None) -> None:
        self.kernel_state = 0
        self.files: list[MappedFile] = []
        self.objects = objects
        self.name_programs = True
        self._kernel = kernel.symbols if kernel else None
        self._references = kernel.references if kernel else {}
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

    def tenant(self, space: int, pid: int) -> int:
        """Whose a process is: only processes of one tenant share the names of a file."""
        return self.objects.tenant(space, pid) if self.objects is not None else 0

    def private(self, file: int) -> bool:
        """Whether what lies in a mapping is each process's own, whatever it is called."""
        return made_at_run_time(self.files[file].path)

    def want(self, file: int, places: U64s, pid: int, space: int) -> None:
        """These places of a file (addresses, where it is private) are about to be asked for."""
        mapped = self.files[file]
        if self.objects is not None and _has_names(mapped):
            self.objects.want(mapped, pid, space, places)

    def user(self, file: int, places: U64s, pid: int, space: int, frames: FrameTable) -> tuple[I32s, NDArray[np.bool_]]:
        """The frame of each place of a file (address, where it is private), and whether that is final."""
        mapped = self.files[file]
        table, whole = self._table(mapped, pid, space)
        private = made_at_run_time(mapped.path)
        module = JIT_MODULE if table is not None and private else module_name(mapped.path)
        numbers = np.full(places.size, frames.unknown(module), np.int32)
        found = np.full(places.size, NOT_KNOWN) if table is None else table.find(places)
        named = found >= 0
        if table is not None and named.any():
            numbers[named] = self._numbers_of(table).of(
                found[named], frames, lambda place: (table.readable(place).replace(";", ":"), module)
            )
        final = np.full(places.size, whole) | (found != NOT_KNOWN)
        self._note(module, mapped, places[~named & final])
        if self.objects is not None and _has_names(mapped) and (missing := np.count_nonzero(found == NOT_KNOWN)):
            self.objects.count(mapped, pid, space, int(missing))
        return numbers, final & ~(private & (table is not None))

    def unresolved(self) -> list[Unresolved]:
        """Places without a name so far, the most frequent first."""
        return [Unresolved(*place, count) for place, count in self._unresolved.most_common()]

    def close(self) -> None:
        """End what looks for names."""
        if self.objects is not None and not isinstance(self.objects, ObjectFiles):
            self.objects.close()

    def _table(self, mapped: MappedFile, pid: int, space: int) -> tuple[SymbolTable | KnownRanges | None, bool]:
        if mapped.path == VDSO and not mapped.inode:
            return self._own_vdso(), True
        if not self.name_programs or self.objects is None or not _has_names(mapped):
            return None, True
        return self.objects.names(mapped, pid, space)

    def _own_vdso(self) -> SymbolTable | None:
        """All processes of one kernel have the same; ours will do."""
        if isinstance(self._vdso, bool):
            self._vdso = None
            if self.objects is not None and not self.objects.host.captured:
                with contextlib.suppress(Unavailable, OSError, ValueError):
                    self._vdso = _read_vdso(self.objects.host)
        return self._vdso

    @staticmethod
    def _numbers_of(table: SymbolTable | KnownRanges) -> _Numbered:
        """Kept with the table, so that both go together."""
        if not isinstance(table.numbers, _Numbered):
            table.numbers = _Numbered(len(table))
        return table.numbers

    def _note(self, module: str, mapped: MappedFile, offsets: U64s) -> None:
        if offsets.size and len(self._unresolved) < _UNRESOLVED:
            self._unresolved.update((module, mapped.build_id, offset) for offset in offsets.tolist()[:1024])


def _has_names(mapped: MappedFile) -> bool:
    """Whether names may be had for a mapping: it is a file, or its process may have written a map."""
    return mapped.path.startswith("/") or made_at_run_time(mapped.path)


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


def live_symbols(host: Host) -> tuple[Symbols, Unavailable | None]:
    """Names for what runs here now, and why the kernel's are missing when they are. To be closed.

    One feed of the decoder waits for files `WAIT_S` at most; what is not read by then is named the next time.
    """
    from necroscope.sense.perf.symbols.live_names import LiveNames

    names = LiveNames(host) if not host.captured else None
    try:
        return Symbols(running_kernel(host), names), None
    except Unavailable as error:
        return Symbols(None, names), error
