"""Call chains to stacks: every address becomes a frame's number, every row of numbers a stack.

Addresses come again and again, so a table remembers the frame of each: of a kernel address for all, of a user address
for one state of one address space. A stack's numbers are hashed, and only stacks never seen before are spelled out.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from necroscope.sense.perf.decode.hashing import FACTOR, HashIndex, SpanHasher, mix
from necroscope.sense.perf.decode.native import loops
from necroscope.sense.perf.format.layout import CONTEXT_ELSEWHERE, CONTEXT_KERNEL, CONTEXT_MAX, CONTEXT_USER
from necroscope.sense.perf.format.walk import spans
from necroscope.sense.perf.samples import UNKNOWN, Stack
from necroscope.sense.perf.symbols.bpf_programs import Programs
from necroscope.sense.perf.symbols.frames import MARK, FrameTable
from necroscope.sense.perf.tasks.address_spaces import locate

T = TypeVar("T", np.int32, np.uint64)
U64s = NDArray[np.uint64]
U32s = NDArray[np.uint32]
I64s = NDArray[np.int64]
I32s = NDArray[np.int32]
_TOP = np.uint64(1 << 63)
_ELSEWHERE = np.uint64(
    CONTEXT_MAX
)  # stands for an address of a guest or a hypervisor: above all others, below all marks
_HERE = np.array([CONTEXT_KERNEL, CONTEXT_USER], np.uint64)
_ODD = np.array(CONTEXT_ELSEWHERE, np.uint64)
_ADDRESSES = 1 << 16
_STACKS = 1 << 17
_FRAMES, _FRAME_BYTES = 1 << 19, 48 << 20


_ASK = -1
Mapped = Callable[[int], U64s]
"""Spells a version of an address space out: rows of start, end, offset, file."""


class Resolver(Protocol):
    """Addresses to frames. What is not final is asked again the next time."""

    kernel_state: int
    programs: Programs

    def kernel(self, addresses: U64s, frames: FrameTable) -> tuple[I32s, NDArray[np.bool_]]:
        """The frame of each kernel address, and whether that is final."""
        ...

    def tenant(self, space: int, pid: int) -> int:
        """Whose a process is."""
        ...

    def private(self, file: int) -> bool:
        """Whether what lies in a mapping is each process's own."""
        ...

    def want(self, file: int, places: U64s, pid: int, space: int) -> None:
        """These places are about to be asked for."""
        ...

    def user(self, file: int, places: U64s, pid: int, space: int, frames: FrameTable) -> tuple[I32s, NDArray[np.bool_]]:
        """The frame of each place of a mapped file, and whether that is final."""
        ...


class Stacks:
    """Chains in, stack ids out; new stacks are handed out once."""

    def __init__(self, resolver: Resolver) -> None:
        self.frames = FrameTable()
        self._resolver = resolver
        self._addresses = HashIndex(1 << 14)
        self._frame_of = np.full(1 << 14, _ASK, np.int32)
        self._places = HashIndex(1 << 14)
        self._frame_at = np.full(1 << 14, _ASK, np.int32)
        self._hash_of = mix(np.arange(1 << 12, dtype=np.uint64))
        # Numbers of files and spaces can be guessed; what they are remembered under cannot, so that nobody can make two
        # of them look alike.
        self._secret = np.uint64(secrets.randbits(64))
        self._guests = False
        self._stacks = HashIndex(1 << 14)
        self._id_of = np.zeros(1 << 14, np.uint64)

    def emit_again(self) -> None:
        """Hand every stack out once more when it comes again: whoever keeps them has forgotten some."""
        self._stacks.clear()

    def resolve(
        self, depth: I64s, chain: U64s, times: U64s, versions: U64s, pids: U32s, mapped: Mapped
    ) -> tuple[U64s, tuple[Stack, ...]]:
        """The stack id of each chain, and the stacks that are new.

        `versions` names the state of each row's address space (0: none known), `mapped` spells a version out.
        """
        self._bound()
        ends = np.cumsum(depth)
        guests = self._guests
        numbers = self._frame_numbers(
            _without_guests(chain, ends, depth) if guests else chain, ends, depth, versions, pids, mapped
        )
        if self._guests and not guests:
            numbers = self._frame_numbers(_without_guests(chain, ends, depth), ends, depth, versions, pids, mapped)
        passing = self._resolver.programs.where(chain)
        if passing.size:
            named = numbers[passing]
            rows = np.searchsorted(ends, passing, side="right")
            self._resolver.programs.name(chain[passing], times[rows], named, self.frames)
            numbers[passing] = named
        if len(self.frames) > self._hash_of.size:
            self._hash_of = mix(np.arange(2 * len(self.frames), dtype=np.uint64))
        stacks, fresh = self._stacks.add(self._hashes(numbers, ends, depth))
        self._id_of = _room(self._id_of, len(self._stacks))
        new = self._spell(numbers, ends[fresh] - depth[fresh], depth[fresh])
        self._id_of[stacks[fresh]] = np.array([stack.stack_id for stack in new], np.uint64)
        return self._id_of[stacks], tuple({stack.stack_id: stack for stack in new}.values())

    def forget_addresses(self) -> None:
        """Mapped files have new numbers, or symbols have changed: ask again."""
        self._addresses.clear()
        self._frame_of.fill(_ASK)
        self._places.clear()
        self._frame_at.fill(_ASK)

    # -- addresses ---------------------------------------------------------------------------------------

    def _hashes(self, numbers: I32s, ends: I64s, depth: I64s) -> U64s:
        native = loops()
        if native is not None:
            return native.hashes(numbers, self._hash_of, depth, FACTOR)
        return SpanHasher(self._hash_of.take(numbers), mixed=True).spans(ends - depth, ends)

    def _frame_numbers(self, chain: U64s, ends: I64s, depth: I64s, versions: U64s, pids: U32s, mapped: Mapped) -> I32s:
        numbers, keys, missing = self._known(chain, depth, mix(versions ^ self._secret))
        if missing.size:
            numbers[missing] = self._find_out(keys, chain, missing, ends, versions, pids, mapped)
        return numbers

    def _known(self, chain: U64s, depth: I64s, spaces: U64s) -> tuple[I32s, U64s, I64s]:
        """The frame of each address, `_ASK` where none is remembered; keys and positions of those."""
        native = loops()
        if native is not None:
            state = self._resolver.kernel_state
            return native.frames(self._addresses.table, self._frame_of, _ASK, chain, depth, spaces, state)
        user = chain < _TOP
        keys = chain ^ np.uint64(self._resolver.kernel_state)
        if user.any():
            keys ^= np.repeat(spaces, depth) * user
        # The last place is nobody's: where a key is not known, -1 leads there.
        numbers = self._frame_of.take(self._addresses.find(keys))
        missing = np.flatnonzero(numbers == _ASK)
        return numbers, keys[missing], missing

    def _find_out(
        self, keys: U64s, chain: U64s, missing: I64s, ends: I64s, versions: U64s, pids: U32s, mapped: Mapped
    ) -> I32s:
        """Frames of addresses that are new, or had no final answer the last time; final ones are remembered."""
        known = len(self._addresses)
        places, first = self._addresses.add_unknown(keys)
        self._frame_of = _longer(self._frame_of, len(self._addresses))
        again = np.flatnonzero(places < known)
        if again.size:
            first = np.concatenate([first, again[np.unique(places[again], return_index=True)[1]]])
        asked = missing[first]
        rows = np.searchsorted(ends, asked, side="right")
        found, final = self._ask(chain[asked], versions[rows], pids[rows], mapped)
        distinct = places[first]
        self._frame_of[distinct] = found
        numbers = self._frame_of[places]
        self._frame_of[distinct[~final]] = _ASK
        return numbers

    def _ask(self, addresses: U64s, versions: U64s, pids: U32s, mapped: Mapped) -> tuple[I32s, NDArray[np.bool_]]:
        numbers = np.full(addresses.size, MARK, np.int32)
        final = np.ones(addresses.size, np.bool_)
        kernel = np.flatnonzero((addresses >= _TOP) & (addresses < _ELSEWHERE))
        if kernel.size:
            numbers[kernel], final[kernel] = self._resolver.kernel(addresses[kernel], self.frames)
        high = addresses > _ELSEWHERE
        if high.any():
            self._guests |= bool(np.isin(addresses[high], _ODD).any())
            # A broken frame pointer may lead to anything, even to what looks like a mark.
            numbers[high & ~np.isin(addresses, _HERE) & ~np.isin(addresses, _ODD)] = self.frames.unknown(UNKNOWN)
        numbers[addresses == _ELSEWHERE] = self.frames.unknown("[guest]")
        user = np.flatnonzero(addresses < _TOP)
        if user.size:
            numbers[user], final[user] = self._ask_user(addresses[user], versions[user], pids[user], mapped)
        return numbers, final

    def _ask_user(self, addresses: U64s, versions: U64s, pids: U32s, mapped: Mapped) -> tuple[I32s, NDArray[np.bool_]]:
        """Address -> mapping, space by space; then place in a file -> frame, file by file."""
        owner, first = HashIndex(2 << versions.size.bit_length()).add_unknown(versions)
        file, offset = locate([mapped(one) for one in versions[first].tolist()], owner, addresses)
        numbers = np.full(addresses.size, self.frames.unknown(UNKNOWN), np.int32)
        final = np.ones(addresses.size, np.bool_)
        mapped_at = np.flatnonzero(file >= 0)
        if not mapped_at.size:
            return numbers, final
        file, offset, owner = file[mapped_at], offset[mapped_at], owner[mapped_at]
        ask = _Places(self._resolver, versions[first], pids[first], file, owner, self._secret)
        # Many processes of one tenant run the same files: what one of them asked for, all know.
        where = np.where(ask.private, addresses[mapped_at], offset)
        places, _ = self._places.add(where ^ ask.keys)
        self._frame_at = _longer(self._frame_at, len(self._places))
        asked = np.flatnonzero(self._frame_at.take(places) == _ASK)
        groups = [asked[rows] for _, rows in _groups(ask.group[asked])]
        for rows in groups:
            self._resolver.want(int(file[rows[0]]), where[rows], *ask.process(int(rows[0])))
        for rows in groups:
            one, process = int(file[rows[0]]), ask.process(int(rows[0]))
            found, final[mapped_at[rows]] = self._resolver.user(one, where[rows], *process, self.frames)
            self._frame_at[places[rows]] = found
        numbers[mapped_at] = self._frame_at.take(places)
        self._frame_at[places[~final[mapped_at]]] = _ASK
        return numbers, final

    # -- stacks ------------------------------------------------------------------------------------------

    def _spell(self, numbers: I32s, start: I64s, depth: I64s) -> list[Stack]:
        """Stacks with their names, outermost frame first, marks left out."""
        # Read backwards, the first stack is the last one and every chain starts with its outermost frame.
        rows = numbers[spans(start[::-1], depth[::-1])[::-1]] if start.size else numbers[:0]
        real = np.concatenate([[0], np.cumsum(rows != MARK)])
        ends = np.cumsum(depth)
        bounds = zip(real[ends - depth].tolist(), real[ends].tolist(), strict=True)
        canonical = list(map(self.frames.canonical.__getitem__, rows[rows != MARK].tolist()))
        return [Stack.spelled(b"".join(canonical[low:high])) for low, high in bounds]

    def _bound(self) -> None:
        """Forget when too much is remembered: the next rows ask again, and stacks may be handed out twice."""
        if len(self.frames) > _FRAMES or self.frames.nbytes > _FRAME_BYTES:
            self.frames.clear()
            self._stacks.clear()
            self.forget_addresses()
        if len(self._addresses) > _ADDRESSES or len(self._places) > _ADDRESSES:
            self.forget_addresses()
        if len(self._stacks) > _STACKS:
            self._stacks.clear()


class _Places:
    """Who may share the names of which addresses: the processes of a tenant those of a file, nobody those of memory.

    `owner` is each address's place among `versions` and `pids`, `file` the file it is in. Addresses of one `group` can
    be asked for together.
    """

    def __init__(
        self, resolver: Resolver, versions: U64s, pids: U32s, file: I64s, owner: I32s, secret: np.uint64
    ) -> None:
        self._spaces = [version >> 32 for version in versions.tolist()]
        self._pids = pids.tolist()
        self._owner = owner
        tenants = [resolver.tenant(*one) for one in zip(self._spaces, self._pids, strict=True)]
        files, file_at = np.unique(file, return_inverse=True)
        self.private = np.array([resolver.private(one) for one in files.tolist()])[file_at]
        # A version is never as small as a tenant's number.
        whose = np.where(self.private, versions[owner], np.array(tenants, np.uint64)[owner])
        self.keys = mix(file.astype(np.uint64) ^ secret) ^ mix(mix(whose ^ secret))
        self.group = np.unique(self.keys, return_inverse=True)[1].astype(np.int32)

    def process(self, row: int) -> tuple[int, int]:
        """A process that has mapped the file of a row, and its space."""
        owner = int(self._owner[row])
        return self._pids[owner], self._spaces[owner]


def _without_guests(chain: U64s, ends: I64s, depth: I64s) -> U64s:
    """The chain with every address that follows neither a kernel's nor a process's mark made `_ELSEWHERE`."""
    odd = np.isin(chain, _ODD)
    marks = odd | np.isin(chain, _HERE)
    last = np.maximum.accumulate(np.where(marks, np.arange(chain.size), -1))
    foreign = (last >= np.repeat(ends - depth, depth)) & odd[last] & ~marks
    return np.where(foreign, _ELSEWHERE, chain)


def _longer(frames: I32s, count: int) -> I32s:
    """The frames, more of them unknown when `count` does not fit; the last one always is."""
    if count < frames.size:
        return frames
    longer = np.full(2 * count, _ASK, np.int32)
    longer[: frames.size] = frames
    return longer


def _room(column: NDArray[T], count: int) -> NDArray[T]:
    """The column, longer when `count` does not fit."""
    if count <= column.size:
        return column
    longer = np.zeros(1 << count.bit_length(), column.dtype)
    longer[: column.size] = column
    return longer


def _groups(values: I32s) -> list[tuple[int, I64s]]:
    """The positions of each distinct value."""
    if not values.size:
        return []
    small = int(values.max()) < 1 << 15
    order = np.argsort(values.astype(np.int16) if small else values, kind="stable")  # 16 bits are sorted by radix
    ordered = values[order]
    cuts = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    firsts = np.concatenate([[0], cuts])
    return [(int(ordered[low]), part) for low, part in zip(firsts.tolist(), np.split(order, cuts), strict=True)]
