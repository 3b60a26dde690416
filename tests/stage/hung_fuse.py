"""A FUSE file system that says hello and answers nothing after that: whoever looks into it sleeps in the kernel."""

from __future__ import annotations

import ctypes
import os
import select
import struct
import threading
from pathlib import Path

_DETACH = 2
_INIT = 26
_HEADER = "<IIQQIIII"


class HungFuse:
    """Mounted from construction to `close`. `swallow`: requests are read first, so that waiting cannot be killed."""

    def __init__(self, folder: Path, swallow: bool = True) -> None:
        self._folder = os.fsencode(folder)
        self._fd = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
        self._libc = ctypes.CDLL(None, use_errno=True)
        options = f"fd={self._fd},rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions".encode()
        if self._libc.mount(b"hung", self._folder, b"fuse", 6, options) != 0:
            os.close(self._fd)
            raise OSError(ctypes.get_errno(), "FUSE cannot be mounted")
        self._swallow = swallow
        self.seen = 0
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        # Who sleeps in read holds the file open, and the kernel aborts only what nobody has open.
        while not self._closing.is_set():
            try:
                if not select.select([self._fd], [], [], 0.1)[0]:
                    continue
                data = os.read(self._fd, 1 << 20)
            except BlockingIOError:
                continue
            except OSError:
                return
            _, opcode, unique, *_ = struct.unpack_from(_HEADER, data)
            if opcode == _INIT:
                answer = struct.pack("<IIIIHHIIHHI7I", 7, 31, 65536, 0, 12, 10, 65536, 1, 1, 0, 0, *([0] * 7))
                os.write(self._fd, struct.pack("<IiQ", 16 + len(answer), 0, unique) + answer)
                if not self._swallow:
                    return
            else:
                self.seen += 1

    def close(self) -> None:
        """Unmounted, and whoever still waits is let go: aborting is what the kernel does when nobody has it open, and
        what it is asked for where that can be."""
        self._closing.set()
        for number in Path("/sys/fs/fuse/connections").glob("*/abort"):
            if number.parent.name == self._connection():
                number.write_text("1")
        self._libc.umount2(self._folder, _DETACH)
        self._thread.join(2)
        os.close(self._fd)

    def _connection(self) -> str:
        for line in Path("/proc/self/mountinfo").read_text().splitlines():
            fields = line.split()
            if os.fsencode(fields[4]) == self._folder and "fuse" in fields:
                return fields[2].partition(":")[2]
        return ""
