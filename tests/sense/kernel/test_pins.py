from __future__ import annotations

from kernel.fake_kernel import HEAP, MOUNTINFO, FakeKernel
from necroscope.sense.kernel.files import FileLayout, Files, Mounts
from necroscope.sense.kernel.pins import FOLIOS_SEEN, HeldMemory, PinLayout, Pins

ANON = HEAP + 1


def held(kernel: FakeKernel, css: int, nodes: int = 1) -> HeldMemory:
    pointers = kernel.pointers()
    files = Files(kernel, FileLayout.of(kernel.btf), pointers, Mounts(MOUNTINFO))
    return Pins(kernel, PinLayout.of(kernel.btf), pointers, files, nodes).read([css])[0]


def zombie(kernel: FakeKernel) -> int:
    return kernel.cgroup(kernel.root, "z", online=False)


def test_each_list_is_divided_in_proportion_to_what_it_begins_with() -> None:
    kernel = FakeKernel()
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


def test_a_list_whose_folios_cannot_be_read_goes_by_its_name() -> None:
    kernel = FakeKernel()
    css = zombie(kernel)
    for lru, wild in ((1, 0x1000), (2, HEAP + 64), (4, 0xDEAD_0000_0000_0100)):
        kernel.page(css, lru, ANON)
        kernel.words[kernel.per_node(css) + kernel.btf.offset("mem_cgroup_per_node", "lruvec.lists") + 16 * lru] = wild
    assert held(kernel, css).bytes == {"anon": 2 * 4096, "page-cache": 4096}


def test_generations_are_read_where_the_classic_lists_are_empty() -> None:
    kernel = FakeKernel(generations=True)
    css = zombie(kernel)
    kernel.generation(css, 0, ANON, pages=2)
    kernel.generation(css, 7, kernel.file("tmpfs", "/x"), pages=5)
    one = held(kernel, css)
    assert one.bytes == {"anon": 2 * 4096, "tmpfs": 5 * 4096}
    assert len(one.inodes["tmpfs"]) == 1


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
