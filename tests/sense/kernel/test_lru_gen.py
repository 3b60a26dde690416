from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.kernel.lru_gen import LruGenGroup, parse_lru_gen, zombies_listed

TEXT = b"""memcg     1 
 node     0
          0     990000          0          0 
          3       1200        100         50 
memcg    27 /system.slice/ssh.service
 node     0
          1     120345         10         20 
          2       1200          0          3 
 node     1
          1        500          1          2x
memcg     0 /docker/3f5c
 node     0
          1      60000          7          0 
memcg 18446744073709551615 /docker/with space
"""  # noqa: W291


def test_cgroups_with_their_pages_over_nodes_and_generations() -> None:
    assert list(parse_lru_gen(TEXT)) == [
        LruGenGroup(1, "", 100, 50, 990.0),
        LruGenGroup(27, "/system.slice/ssh.service", 11, 25, 120.345),
        LruGenGroup(0, "/docker/3f5c", 7, 0, 60.0),
        LruGenGroup((1 << 64) - 1, "/docker/with space", 0, 0, None),
    ]


def test_zombies_have_no_id_or_no_directory(tmp_path: Path) -> None:
    (tmp_path / "sys/fs/cgroup/system.slice/ssh.service").mkdir(parents=True)
    (tmp_path / "sys/kernel/debug").mkdir(parents=True)
    (tmp_path / "sys/kernel/debug/lru_gen").write_bytes(TEXT)
    zombies = zombies_listed(Host(tmp_path), "/sys/fs/cgroup")
    assert [zombie.path for zombie in zombies] == ["/docker/3f5c", "/docker/with space"]


@pytest.mark.parametrize("text", [b"", b"\xff\xfe\x00", b" node 0\n 1 2 3 4\n"])
def test_a_file_that_lists_nothing_is_unavailable(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "sys/kernel/debug").mkdir(parents=True)
    (tmp_path / "sys/kernel/debug/lru_gen").write_bytes(text)
    with pytest.raises(Unavailable, match="lists no cgroup"):
        zombies_listed(Host(tmp_path), "/sys/fs/cgroup")


def test_no_file_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="does not exist"):
        zombies_listed(Host(tmp_path), "/sys/fs/cgroup")


@given(st.binary())
def test_any_bytes_are_read(text: bytes) -> None:
    for group in parse_lru_gen(b"memcg 5 /a\n" + text):
        assert group.anon_pages >= 0
        assert group.file_pages >= 0
