"""While names of programs are not looked for, no file is asked for; afterwards they are found again."""

from __future__ import annotations

from typing import Any

import numpy as np

from necroscope.sense.perf.decode.stream import Decoder
from necroscope.sense.perf.format.sideband import MappedFile
from necroscope.sense.perf.symbols.frames import FrameTable
from necroscope.sense.perf.symbols.symbols import Symbols


class Asked:
    """Files that nobody has; it counts who asks."""

    def __init__(self) -> None:
        self.paths: list[str] = []

    def names(self, file: MappedFile, pid: int, space: int) -> tuple[None, bool]:
        self.paths.append(file.path)
        return None, True

    def count(self, file: MappedFile, pid: int, space: int, frames: int) -> None:
        """Nobody asks here."""


def look(symbols: Symbols) -> tuple[list[str], bool]:
    frames = FrameTable()
    numbers, final = symbols.user(0, np.array([16], np.uint64), 4096, 7, frames)
    return [f"{frames.modules[one]}:{frames.names[one]}" for one in numbers.tolist()], bool(final.all())


def test_no_file_is_asked_for_and_the_frame_keeps_its_module() -> None:
    objects: Any = Asked()
    symbols = Symbols(None, objects)
    symbols.files = [MappedFile("/usr/bin/job")]
    symbols.name_programs = False
    assert look(symbols) == (["job:[unknown]"], True)
    assert objects.paths == []
    symbols.name_programs = True
    look(symbols)
    assert objects.paths == ["/usr/bin/job"]


def test_what_had_no_name_meanwhile_is_asked_for_again(monkeypatch: Any) -> None:
    decoder = Decoder()
    forgotten: list[int] = []
    monkeypatch.setattr(decoder._stacks, "forget_addresses", lambda: forgotten.append(1))
    decoder.name_programs(True)
    decoder.name_programs(False)
    assert forgotten == []
    assert not decoder.symbols.name_programs
    decoder.name_programs(True)
    assert forgotten == [1]
    assert decoder.symbols.name_programs
