"""The child that reads what strangers wrote: ELF files, maps, mangled names. It has no rights, little memory, and no
way to open anything: what it reads it was handed as a descriptor, and what it finds out is names for places.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket

import numpy as np

from necroscope.sense.confined import privileges, seccomp
from necroscope.sense.confined.in_root import Refused
from necroscope.sense.confined.messages import (
    MAP,
    MOST_PLACES,
    READY,
    REQUEST_BYTES,
    Answer,
    Range,
    Request,
    answer_packet,
    request_of,
)
from necroscope.sense.confined.refusal import Refusal
from necroscope.sense.confined.symbol_tables import MappedObject, Maps, Objects
from necroscope.sense.perf.symbols.demangle import demangle
from necroscope.sense.perf.symbols.jit import parse_jit_map
from necroscope.sense.perf.symbols.symtab import SymbolTable

RECORDER_FD, OPENER_FD = 3, 4
HEAP_BYTES = 64 << 20
_FILES = 32
_CPU_S = 1.5
_DESCRIPTORS = 4


def main(parent: int) -> None:
    """Serve until the recorder closes its end."""
    privileges.prepare("necro-parser", parent)
    _warm_up()
    privileges.limit(HEAP_BYTES, _FILES)
    privileges.become_nobody()
    recorder, opener = socket.socket(fileno=RECORDER_FD), socket.socket(fileno=OPENER_FD)
    waiting = select.poll()
    waiting.register(recorder, select.POLLIN)
    waiting.register(opener, select.POLLIN)
    seccomp.restrict()
    parser = Parser()
    recorder.send(READY)
    while ready := waiting.poll():
        source = recorder if any(fd == RECORDER_FD for fd, _ in ready) else opener
        data, fds, _, _ = socket.recv_fds(source, REQUEST_BYTES, _DESCRIPTORS)
        if not data:
            if source is recorder:
                return
            waiting.unregister(opener)  # another opener may come, with another parser
            continue
        signal.setitimer(signal.ITIMER_PROF, _CPU_S)  # its signal ends the process
        recorder.send(answer_packet(parser.answer(request_of(data), fds)))
        signal.setitimer(signal.ITIMER_PROF, 0)
        for fd in fds:
            with contextlib.suppress(OSError):
                os.close(fd)


class Parser:
    """Requests in, names out."""

    def __init__(self) -> None:
        self._objects, self._maps = Objects(), Maps()

    def answer(self, request: Request, fds: list[int]) -> Answer:
        """What can be said about the places of a request. When memory is short, what is remembered goes first."""
        try:
            return self._answer(request, fds)
        except MemoryError:
            self._objects.forget()
            self._maps.forget()
        try:
            return self._answer(request, fds)
        except MemoryError:
            return Answer(request.id, Refusal.LIMIT)

    def _answer(self, request: Request, fds: list[int]) -> Answer:
        try:
            return self._of_map(request, fds) if request.kind == MAP else self._of_object(request, fds)
        except Refused as error:
            return Answer(request.id, error.reason)

    def _of_object(self, request: Request, fds: list[int]) -> Answer:
        found = self._objects.of(request.key, request.build_id, fds) if fds else self._objects.known(request.key)
        if found is None:
            return Answer(request.id, Refusal.GONE)
        _point(found, fds)
        try:
            return Answer(request.id, kept=found.kept, ranges=_ranges(found.table, request.places))
        finally:
            _point(found, [])

    def _of_map(self, request: Request, fds: list[int]) -> Answer:
        if not fds:
            return Answer(request.id, Refusal.GONE)
        found = self._maps.of(request.key, fds[0])
        try:
            return Answer(request.id, more=found.more, ranges=_ranges(found.table, request.places))
        finally:
            found.names.fd = -1


def _point(found: MappedObject, fds: list[int]) -> None:
    found.names.fd = fds[0] if fds else -1
    found.debug_names.fd = fds[1] if len(fds) > 1 else -1


def _ranges(table: SymbolTable | None, places: tuple[int, ...]) -> tuple[Range, ...]:
    """Every range that one of the places lies in, once."""
    if table is None:
        return ((0, (1 << 64) - 1, None),) if places else ()
    found: dict[tuple[int, int], str | None] = {}
    for place in places[:MOST_PLACES]:
        start, end, symbol = table.span(place)
        if (start, end) not in found and start < end:
            found[start, end] = None if symbol < 0 else table.readable(symbol)
    return tuple((start, end, name) for (start, end), name in found.items())


def _warm_up() -> None:
    """Everything that is loaded when first used: nothing can be opened later."""
    demangle("_ZN1a1bEv")
    demangle("_RNvNtC1au7caf_dma3run")  # the codec of names that are not ASCII
    table = parse_jit_map(b"10 10 a\n10 8 b\n")
    _ranges(table, (16,))
    SymbolTable(np.array([2, 1, 1], np.uint64), np.array([0, 1, 0], np.uint64), np.zeros(3, np.int64),
                np.zeros(3, np.int8), lambda _: b"_Z1av").readable(0)  # fmt: skip
    answer_packet(Answer(0, Refusal.GONE))
    "x".encode("ascii").decode("utf-8", "replace")
