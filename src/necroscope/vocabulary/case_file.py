"""A case in a file: gzip-compressed JSON, `necroscope.case/1`.

    {"schema": "necroscope.case/1",
     "functions": [NAME, ...],                          every name of a function, once
     "stacks": [[[FUNCTION, ...], LEAF, KERNEL], ...],  every shape of a stack, once; numbers of `functions`
     "case": {...}}                                     `case.Case`, field by field

In the case, stacks are [[SHAPE, ...], [WEIGHT, ...]], and fields that have their default are absent. Written under a
temporary name, synced and renamed, readable by its owner only. Reading trusts nothing: the file is bounded before it is
unpacked and before it is parsed, and what is not exactly of these types is refused.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from necroscope.errors import BadInput, NecroscopeError
from necroscope.vocabulary.case import Case, Run, Stack
from necroscope.vocabulary.model import MODES
from necroscope.vocabulary.typed_json import UNSIGNED_64, Form, Mismatch, Special, form_of, optional
from necroscope.vocabulary.verdict import Complaint, Strip

SCHEMA = "necroscope.case/1"
FILE_BYTES_MOST, BYTES_MOST = 8 << 20, 32 << 20
"""As it lies on the disk, and unpacked."""
LISTS_MOST, VALUES_MOST, DEPTH_MOST = 200_000, 2_000_000, 1_000
"""Lists and objects, and values, of a file, which take more memory than their text does; functions of one stack."""
_HINT = "make it again with `necroscope why --save-case FILE`"
_Shape = tuple[tuple[str, ...], str, bool]
_TRAP = "no case is as large; it may be damaged, or a trap"


def save(case: Case, path: Path) -> int:
    """Write a case and tell the size of the file; an unfinished one never appears under its name."""
    data = gzip.compress(_dumped(case), mtime=0)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(path)
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror}.", "name a file in a writable folder") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
    return len(data)


def load(path: Path) -> Case:
    """Read a case; `BadInput` when it is not one of ours."""
    try:
        if path.exists() and not path.is_file():
            raise BadInput(f"{path} is not a file.", _HINT)
        with path.open("rb") as file:
            data = file.read(FILE_BYTES_MOST + 1)
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.", _HINT) from error
    try:
        return _parsed(_document(_unpacked(data)))
    except Mismatch as error:
        where = f"{error.where} " if error.where else ""
        raise BadInput(f"{path} is not a case: {where}{error.message}.", _HINT) from error


# -- bytes ---------------------------------------------------------------------------------------------------


def _dumped(case: Case) -> bytes:
    tables = _Tables()
    try:
        body = form_of(Case, _special(tables)).write(case)
    except Mismatch as error:
        raise NecroscopeError(f"This case cannot be saved: a value {error.message}.", "please report it") from error
    document = {"schema": SCHEMA, "functions": list(tables.functions), "stacks": tables.rows(), "case": body}
    return json.dumps(document, separators=(",", ":"), allow_nan=False).encode("ascii")


def _unpacked(data: bytes) -> bytes:
    if len(data) > FILE_BYTES_MOST:
        raise Mismatch(f"it is larger than {FILE_BYTES_MOST >> 20} MiB ({_TRAP})")
    unzip = zlib.decompressobj(wbits=31)
    try:
        unpacked = unzip.decompress(data, BYTES_MOST + 1)
    except zlib.error as error:
        raise Mismatch("it is not compressed with gzip, or is damaged") from error
    if len(unpacked) > BYTES_MOST:
        raise Mismatch(f"it unpacks to more than {BYTES_MOST >> 20} MiB ({_TRAP})")
    if not unzip.eof or unzip.unused_data:
        raise Mismatch("its end is missing, or something follows it")
    return unpacked


def _document(data: bytes) -> dict[str, Any]:
    """The JSON object; what would take much more memory than its text is refused before it is parsed."""
    if not data.isascii():
        raise Mismatch("it is not JSON as this program writes it")
    if data.count(b"[") + data.count(b"{") > LISTS_MOST or data.count(b",") > VALUES_MOST:
        raise Mismatch(f"it has too many values ({_TRAP})")
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Mismatch("it is not valid JSON") from error
    schema = document.get("schema") if type(document) is dict else None
    if schema != SCHEMA:
        said = f"it is a {schema[:60]!r}" if type(schema) is str else "it has no schema"
        raise Mismatch(f"{said}, this version reads {SCHEMA}")
    return document  # type: ignore[no-any-return]


def _parsed(document: dict[str, Any]) -> Case:
    if set(document) != {"schema", "functions", "stacks", "case"}:
        raise Mismatch("it has not the keys of one")
    functions = form_of(tuple[str, ...]).read(document["functions"])
    rows = form_of(tuple[tuple[tuple[int, ...], int, bool], ...]).read(document["stacks"])
    shapes = [_shape(row, functions, f"stacks[{number}]") for number, row in enumerate(rows)]
    try:
        case: Case = form_of(Case, _special(_Tables(), shapes)).read(document["case"])
    except Mismatch as error:
        raise error.within("case") from None
    return case


def _shape(row: tuple[tuple[int, ...], int, bool], functions: tuple[str, ...], where: str) -> _Shape:
    called, leaf, kernel = row
    if len(called) > DEPTH_MOST:
        raise Mismatch("is too deep a stack", where)
    if not all(0 <= one < len(functions) for one in (*called, leaf)):
        raise Mismatch("names a function that is not there", where)
    return tuple(functions[one] for one in called), functions[leaf], kernel


# -- stacks, which are many and alike ------------------------------------------------------------------------


@dataclass(slots=True)
class _Tables:
    """Functions and shapes of stacks, each with its number."""

    functions: dict[str, int] = field(default_factory=dict)
    shapes: dict[_Shape, int] = field(default_factory=dict)

    def number(self, stack: Stack) -> int:
        """The number of a stack's shape, which is a new one where it was not met before."""
        for name in (*stack.functions, stack.leaf):
            self.functions.setdefault(name, len(self.functions))
        return self.shapes.setdefault((stack.functions, stack.leaf, stack.kernel), len(self.shapes))

    def rows(self) -> list[Any]:
        """The shapes in the order of their numbers."""
        numbered = self.functions
        return [[[numbered[one] for one in called], numbered[leaf], kernel] for called, leaf, kernel in self.shapes]


def _special(tables: _Tables, shapes: Sequence[_Shape] = ()) -> Special:
    run, strip = form_of(Run), form_of(Strip)
    return {
        (Complaint, "id"): optional(UNSIGNED_64),
        Run: Form(run.write, lambda value: _run(run.read(value))),
        Strip: Form(strip.write, lambda value: _strip(strip.read(value))),
        tuple[Stack, ...]: _stacks(tables, shapes),
    }


def _stacks(tables: _Tables, shapes: Sequence[_Shape]) -> Form:
    form = form_of(tuple[tuple[int, ...], tuple[float, ...]])

    def write(stacks: tuple[Stack, ...]) -> Any:
        return form.write(([tables.number(one) for one in stacks], [one.weight for one in stacks]))

    def read(value: Any) -> tuple[Stack, ...]:
        numbers, weights = form.read(value)
        if len(numbers) != len(weights) or not all(0 <= one < len(shapes) for one in numbers):
            raise Mismatch("names a stack that is not there")
        pairs = ((shapes[one], weight) for one, weight in zip(numbers, weights, strict=True))
        return tuple(Stack(functions, leaf, kernel, weight) for (functions, leaf, kernel), weight in pairs)

    return Form(write, read)


def _run(run: Run) -> Run:
    if len(run.shares) != len(MODES):
        raise Mismatch(f"has not {len(MODES)} entries", ".shares")
    if not all(0 <= share <= 2 for share in run.shares):
        raise Mismatch("are no shares", ".shares")
    if run.to_ns < run.from_ns:
        raise Mismatch("ends before it begins")
    return run


def _strip(strip: Strip) -> Strip:
    if not len(strip.busy) == len(strip.system) == len(strip.average):
        raise Mismatch("has rows of different lengths")
    return strip
