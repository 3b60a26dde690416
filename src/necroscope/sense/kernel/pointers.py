"""Which addresses may be read: a pointer that was read is judged before it is followed.

Reads cannot fault, but a read of device memory may have effects. So a pointer must lie where its kind of object
lives, none of which can be a device:

    heap     the linear map of RAM: no further from the running task (which is in it) than there is RAM; 8-byte aligned
    static   the kernel's image and its modules: constants, file system types, the root cgroup
    folio    the array of page structs: whole structs, all of them within the length that RAM needs

Pointers that fail are replaced by 0, which is never read, and counted as wild; null and list poison are no offence.
"""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Sequence

from necroscope.errors import Unavailable
from necroscope.sense.host import Host

_KERNEL_HALF = (0xFF00_0000_0000_0000, 0xFFFF_FFFF_FFFF_F000)
# x86_64: image and modules; above it lies the fixmap, which holds device registers
_X86_IMAGE = (0xFFFF_FFFF_8000_0000, 0xFFFF_FFFF_FE00_0000)
_POISON = (0xDEAD_0000_0000_0000, 0xDEAD_0000_0001_0000)
_KALLSYMS_BYTES = 64 << 20
# arm64 maps its image as far from a multiple of this as it lies in memory.
_IMAGE_ALIGNMENT = 2 << 20


class Pointers:
    """Judges the pointers of one machine; `wild` counts those it refused."""

    def __init__(
        self, task: int, ram_bytes: int | None, image: Sequence[tuple[int, int]], page_struct_bytes: int = 64
    ) -> None:
        low, high = _KERNEL_HALF
        if ram_bytes is not None:
            low, high = max(low, task - ram_bytes), min(high, task + ram_bytes)
        self.heap_limits = (low, high)
        self.wild = 0
        self._image = tuple(image)
        self._page_struct = page_struct_bytes
        self._page_structs_bytes = None if ram_bytes is None else ram_bytes // mmap.PAGESIZE * page_struct_bytes
        self._folio_anchor: int | None = None

    def heap(self, pointers: Sequence[int]) -> list[int]:
        """Pointers to objects on the heap; 0 in place of a bad one."""
        low, high = self.heap_limits
        good = [pointer if low <= pointer < high and not pointer & 7 else 0 for pointer in pointers]
        return self._counted(pointers, good)

    def anywhere(self, pointers: Sequence[int]) -> list[int]:
        """Pointers to strings and objects that are on the heap or static."""
        low, high = self.heap_limits
        good = [pointer if low <= pointer < high or self._static(pointer) else 0 for pointer in pointers]
        return self._counted(pointers, good)

    def static(self, pointers: Sequence[int]) -> list[int]:
        """Pointers into the kernel's image or a module."""
        return self._counted(pointers, [pointer if self._static(pointer) else 0 for pointer in pointers])

    def folios(self, pointers: Sequence[int]) -> list[int]:
        """Pointers to page structs. The median of the first ones seen anchors the array for all that follow."""
        low, high = _KERNEL_HALF
        # the array begins at a page; where the struct's size is no power of two, less is known of its members
        mask = (self._page_struct & -self._page_struct) - 1
        good = [pointer if low <= pointer < high and not pointer & mask else 0 for pointer in pointers]
        good = [0 if pointer and self._elsewhere(pointer) else pointer for pointer in good]
        if self._folio_anchor is None and any(good):
            known = sorted(filter(None, good))
            self._folio_anchor = known[len(known) // 2]
        if self._page_structs_bytes is not None and self._folio_anchor is not None:
            span, anchor = self._page_structs_bytes, self._folio_anchor
            good = [pointer if -span < pointer - anchor < span else 0 for pointer in good]
        return self._counted(pointers, good)

    def _static(self, pointer: int) -> bool:
        return any(low <= pointer < high for low, high in self._image)

    def _elsewhere(self, pointer: int) -> bool:
        """True for what is known to be no page struct: the heap (where its limits are known) and the image."""
        low, high = self.heap_limits
        return self._static(pointer) or (self._page_structs_bytes is not None and low <= pointer < high)

    def _counted(self, pointers: Sequence[int], good: list[int]) -> list[int]:
        if 0 in good:
            low, high = _POISON
            self.wild += sum(
                1 for was, now in zip(pointers, good, strict=True) if was and not now and not low <= was < high
            )
        return good


def read_pointers(host: Host, task: int, page_struct_bytes: int) -> Pointers:
    """The judge of the live machine."""
    ram = parse_ram_end(host.read_or_none("/proc/iomem") or b"")
    image = [_X86_IMAGE] if os.uname().machine == "x86_64" else _image_from_symbols(host)
    return Pointers(task, ram, image, page_struct_bytes)


def parse_ram_end(iomem: bytes) -> int | None:
    """The end of the highest System RAM in /proc/iomem; None where addresses are hidden (they read as 0)."""
    ends = [int(end, 16) for end in re.findall(rb"(?m)^[0-9a-f]+-([0-9a-f]{1,16}) : System RAM", iomem)]
    return max(ends) + 1 if ends and max(ends) > 0 else None


def parse_image(kallsyms: bytes, modules: bytes, iomem: bytes = b"") -> list[tuple[int, int]]:
    """Where image and modules lie: /proc/kallsyms, /proc/modules, /proc/iomem. Hidden addresses give nothing."""
    found = _image_of_symbols(kallsyms) or _image_of_memory(kallsyms, iomem)
    for size, at in re.findall(rb"(?m)^\S+ (\d+) .* 0x([0-9a-f]{16})(?: .*)?$", modules):
        found.append((int(at, 16), int(at, 16) + int(size)))
    return [(low, high) for low, high in found if _KERNEL_HALF[0] <= low < high <= _KERNEL_HALF[1]]


def _image_of_symbols(kallsyms: bytes) -> list[tuple[int, int]]:
    marks = {name: int(at, 16) for at, name in re.findall(rb"(?m)^([0-9a-f]{16}) \w (_text|_end)$", kallsyms)}
    return [(marks[b"_text"], marks[b"_end"])] if len(marks) == 2 else []


def _image_of_memory(kallsyms: bytes, iomem: bytes) -> list[tuple[int, int]]:
    """Without CONFIG_KALLSYMS_ALL (Debian) nothing marks the end. The image is as long as it is in physical memory.

    There it begins with `_stext`, on older kernels with `_text` (arm64 5.10), 64 KiB before.
    """
    code = re.search(rb"(?m)^ *([0-9a-f]+)-[0-9a-f]+ : Kernel code$", iomem)
    data = re.search(rb"(?m)^ *[0-9a-f]+-([0-9a-f]+) : Kernel data$", iomem)
    text = re.search(rb"(?m)^([0-9a-f]{16}) \w _stext$", kallsyms)
    if not code or not data or not text or not int(data[1], 16):
        return []
    begins, ends, stext = int(code[1], 16), int(data[1], 16) + 1, int(text[1], 16)
    low = stext - (stext - begins) % _IMAGE_ALIGNMENT
    return [(low, low + ends - begins)]


def _image_from_symbols(host: Host) -> list[tuple[int, int]]:
    modules, iomem = (host.read_or_none(path) or b"" for path in ("/proc/modules", "/proc/iomem"))
    try:
        return parse_image(host.read("/proc/kallsyms", _KALLSYMS_BYTES), modules, iomem)
    except Unavailable:
        return []
