from __future__ import annotations

import pytest

from kernel.fake_kernel import HEAP, MOUNTINFO, FakeKernel, Shape, kernel_btf
from necroscope.errors import Unavailable
from necroscope.sense.kernel.files import FileLayout, Files, Mounts
from necroscope.sense.kernel.page_lists import PinLayout
from necroscope.sense.kernel.pins import FOLIOS_SEEN, HeldMemory, Pins

ANON = HEAP + 1


def held(kernel: FakeKernel, css: int, nodes: int = 1) -> HeldMemory:
    pointers = kernel.pointers()
    files = Files(kernel, FileLayout.of(kernel.btf), pointers, Mounts(MOUNTINFO))
    return Pins(kernel, PinLayout.of(kernel.btf), pointers, files, nodes).read([css])[0]


def zombie(kernel: FakeKernel) -> int:
    return kernel.cgroup(kernel.root, "z", online=False)


@pytest.mark.parametrize("shape", [Shape(), Shape(between=2000), Shape(generations=True)])
def test_each_list_is_divided_in_proportion_to_what_it_begins_with(shape: Shape) -> None:
    """Also where lists and sizes are further apart than can be read at once."""
    kernel = FakeKernel(shape)
    css = zombie(kernel)
    kernel.page(css, 0, ANON, pages=4)
    kernel.page(css, 0, kernel.file("tmpfs", "/x"), pages=4)
    kernel.page(css, 3, kernel.file("ext4", "/y"), pages=3)
    one = held(kernel, css)
    assert one.bytes == {"anon": 4 * 4096, "tmpfs": 4 * 4096, "page-cache": 3 * 4096}
    assert one.on_lists == 11
    assert {kind: len(inodes) for kind, inodes in one.inodes.items()} == {"tmpfs": 1, "page-cache": 1}


def test_only_the_first_folios_of_a_list_are_looked_at() -> None:
    kernel = FakeKernel()
    css = zombie(kernel)
    files = [kernel.page(css, 2, kernel.file("ext4", f"/{number}")) for number in range(20)]
    one = held(kernel, css)
    assert len(one.inodes["page-cache"]) == FOLIOS_SEEN < len(files)
    assert one.bytes == {"page-cache": 20 * 4096}


def test_a_list_whose_folios_cannot_be_read_goes_by_its_name_where_that_tells() -> None:
    kernel = FakeKernel()
    css = zombie(kernel)
    for lru, wild in ((1, 0x1000), (2, HEAP + 64), (4, 0xDEAD_0000_0000_0100)):
        kernel.page(css, lru, ANON)
        kernel.words[kernel.per_node(css) + kernel.btf.offset("mem_cgroup_per_node", "lruvec.lists") + 16 * lru] = wild
    assert held(kernel, css).bytes == {"unknown": 2 * 4096, "page-cache": 4096}


def test_generations_are_read_although_the_classic_sizes_stay_0() -> None:
    kernel = FakeKernel(Shape(generations=True))
    css = zombie(kernel)
    kernel.generation(css, 0, ANON, pages=2)
    kernel.generation(css, 7, kernel.file("tmpfs", "/x"), pages=5)
    one = held(kernel, css)
    assert (one.bytes, one.on_lists) == ({"anon": 2 * 4096, "tmpfs": 5 * 4096}, 7)
    assert len(one.inodes["tmpfs"]) == 1


def test_generations_and_classic_lists_are_added_up() -> None:
    """While the kernel switches from the one to the other, and for what nobody may evict."""
    kernel = FakeKernel(Shape(generations=True))
    css = zombie(kernel)
    kernel.page(css, 0, ANON, pages=1)
    kernel.generation(css, 2, kernel.file("ext4", "/log"), pages=6)
    assert held(kernel, css).bytes == {"anon": 4096, "page-cache": 6 * 4096}


def test_a_size_that_is_negative_for_a_moment_counts_as_none() -> None:
    kernel = FakeKernel(Shape(generations=True))
    css = zombie(kernel)
    kernel.generation(css, 3, kernel.file("ext4", "/a"), pages=-2)
    kernel.generation(css, 2, kernel.file("ext4", "/b"), pages=3)
    assert held(kernel, css).bytes == {"page-cache": 3 * 4096}


def test_a_list_of_a_generation_goes_by_its_type_where_no_folio_can_be_read() -> None:
    kernel = FakeKernel(Shape(generations=True))
    css = zombie(kernel)
    for index in (0, 2):
        kernel.generation(css, index, ANON)
        head = kernel.per_node(css) + kernel.btf.offset("mem_cgroup_per_node", "lruvec.lrugen.folios") + 16 * index
        kernel.words[head] = 0x1000
    assert held(kernel, css).bytes == {"unknown": 4096, "page-cache": 4096}


def test_lists_of_another_kind_are_unavailable() -> None:
    with pytest.raises(Unavailable, match="not laid out as expected"):
        PinLayout.of(kernel_btf(Shape(lists=6)))


def test_a_number_no_machine_has_is_taken_for_torn() -> None:
    kernel = FakeKernel()
    css = zombie(kernel)
    kernel.page(css, 0, ANON, pages=1 << 50)
    assert held(kernel, css) == HeldMemory()


def test_numa_nodes_that_are_not_there_are_skipped() -> None:
    kernel = FakeKernel()
    css = zombie(kernel)
    kernel.page(css, 0, ANON)
    assert held(kernel, css, nodes=2).bytes == {"anon": 4096}
