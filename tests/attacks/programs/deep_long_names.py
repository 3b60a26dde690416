"""Call chains of 120 frames, each another one, each with a name of 500 letters: frame pointers that lead through a list
that is written anew all the time, into a file with a hundred thousand symbols. On x86-64; elsewhere only the names.
"""

import ctypes
import mmap
import os
import platform
import random
import signal
import struct
import time
from array import array

from running import CODE_AT, FUNCTION, LOOP, arguments, in_file

COUNT, LETTERS, DEPTH, STEP = 100_000, 500, 120, 16


def write(path) -> None:
    """Code first, then a sparse stretch that the symbols cover, then their table and names."""
    span = COUNT * STEP
    names_at = CODE_AT + span
    symbols_at = names_at + 1 + COUNT * (LETTERS + 1)
    head = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQ", 3, 62, 1, 0, 64, symbols_at + 24 * COUNT)
    head += struct.pack("<IHHHHHH", 0, 64, 56, 1, 64, 2, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 5, CODE_AT, CODE_AT, 0, span, span, 0x1000)
    sections = struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, names_at, symbols_at - names_at, 0, 0, 1, 0)
    sections += struct.pack("<IIQQQQIIQQ", 0, 2, 0, 0, symbols_at, 24 * COUNT, 0, 0, 8, 24)
    with path.open("wb") as file:
        file.write((head + segment).ljust(CODE_AT, b"\0") + LOOP)
        file.seek(names_at)
        file.write(b"\0" + b"".join(b"%0500d\0" % number for number in range(COUNT)))
        for n in range(COUNT):
            file.write(struct.pack("<IBBHQQ", 1 + n * (LETTERS + 1), FUNCTION, 0, 1, CODE_AT + n * STEP, STEP))
        file.write(sections)


def through_a_chain(path) -> None:
    """Run with a frame pointer into a list of made-up frames in the file's mapping."""
    with path.open("rb") as file:
        code = mmap.mmap(file.fileno(), COUNT * STEP, mmap.MAP_PRIVATE, 7, offset=CODE_AT)
    frames = mmap.mmap(-1, 4096)
    frames[:1] = b"\0"  # in memory, or the kernel does not follow
    base = ctypes.addressof(ctypes.c_char.from_buffer(code))
    at = ctypes.addressof(ctypes.c_char.from_buffer(frames))
    runs = os.getpid()
    if not os.fork():
        while os.getppid() == runs:
            words = array("Q")
            for place in range(DEPTH):
                words.extend((at + 16 * (place + 1), base + random.randrange(64, COUNT * STEP)))
            frames[: len(words) * 8] = words.tobytes()
            time.sleep(0.01)
        os._exit(0)
    code[:12] = b"\x48\xbd" + struct.pack("<Q", at) + LOOP  # rbp = the list; jump to itself
    ctypes.CFUNCTYPE(None)(base)()


ends, folder, _ = arguments()
path = folder / "deep"
write(path)
pid = os.fork()
if not pid:
    through_a_chain(path) if platform.machine() == "x86_64" else in_file(path)
time.sleep(max(0.1, ends - time.monotonic()))
os.kill(pid, signal.SIGKILL)
os.waitpid(pid, 0)
path.unlink()
