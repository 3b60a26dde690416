"""A packed file that has to be read at many places: unpacked into a file without a name, which is gone with us.

What a bomb may take is bounded: half of the room that there is, and 16 GiB.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import BinaryIO

from necroscope.errors import BadInput, Unavailable
from necroscope.sense.importers.source import Source

MOST_BYTES = 16 << 30


def unpacked(path: Path, folder: Path, most_bytes: int = MOST_BYTES) -> tuple[BinaryIO, bool]:
    """What is in a packed file, and whether that was cut. `BadInput` where it is more than fits into `folder`."""
    room = os.statvfs(folder)
    most = min(most_bytes, room.f_bavail * room.f_frsize // 2)
    file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - whoever asked closes it
    try:
        with Source(path) as source:
            while block := source.read():
                if file.tell() + len(block) > most:
                    raise BadInput(
                        f"{path} unpacks to more than the {most >> 20} MiB that there is room for",
                        "unpack it elsewhere",
                    )
                file.write(block)
            file.flush()
            return file, source.cut
    except OSError as error:
        file.close()
        raise Unavailable(f"{folder} cannot be written: {error.strerror}", "make room, or give --store") from error
    except BaseException:
        file.close()
        raise
