"""/proc/net/softnet_stat."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from procfiles import captured, mangled, real, undeclared

from necroscope.errors import Unavailable
from necroscope.sense.net.softnet import Softnet, SoftnetRow, number_rows, parse_softnet

OLD = b"00015c73 00000002 00000003" + b" 00000000" * 6 + b" 00000004 00000005\n"  # 4.15: 11 columns
ONLINE = "/sys/devices/system/cpu/online"


def test_a_real_file() -> None:
    assert parse_softnet(real("softnet_stat")) == (
        SoftnetRow(0, 9, 0, 0, 0, 0, 0),
        SoftnetRow(1, 0x211A, 0, 0, 0, 0, 0),
    )


def test_an_old_kernel_does_not_say_the_cpu() -> None:
    assert parse_softnet(OLD) == (SoftnetRow(None, 0x15C73, 2, 3, 4, 5, None),)


def test_columns_in_their_places() -> None:
    line = b" ".join(b"%08x" % column for column in range(0x10, 0x1F)) + b"\n"
    assert parse_softnet(line) == (SoftnetRow(0x1C, 0x10, 0x11, 0x12, 0x19, 0x1A, 0x1B),)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"00000001 00000002 00000003",  # cut
        b"00000001 00000002\n",
        b"\n",
        b"0000000x 00000002 00000003\n",
        b"-0000001 00000002 00000003\n",
        b"f" * 6000 + b" 0 0\n",
        b"1 2 3" + b" 0" * 9 + b" ffffffff\n",  # no such CPU
        OLD + b"\0\n" + OLD,
    ],
)
def test_one_broken_row_spoils_all(text: bytes) -> None:
    with pytest.raises(Unavailable, match="softnet_stat"):
        parse_softnet(text)


@given(mangled(real("softnet_stat")))
def test_no_bytes_break_it(text: bytes) -> None:
    with contextlib.suppress(Unavailable):
        assert all(row.processed >= 0 for row in parse_softnet(text))


def test_rows_of_old_kernels_are_the_online_cpus_in_order() -> None:
    rows = parse_softnet(OLD * 3)
    assert [row.cpu for row in number_rows(rows, (0, 2, 5))] == [0, 2, 5]
    assert [row.cpu for row in number_rows(rows, (0, 1))] == [None, None, None]
    assert [row.cpu for row in number_rows(rows, None)] == [None, None, None]


def test_the_kernels_own_numbers_win() -> None:
    assert [row.cpu for row in number_rows(parse_softnet(real("softnet_stat")), (3, 4))] == [0, 1]


def test_the_sensor_names_cpus_of_an_old_kernel_with_one_offline(tmp_path: Path) -> None:
    reading = Softnet().read(captured(tmp_path, {"/proc/net/softnet_stat": OLD * 2, ONLINE: b"0,2\n"}))
    dropped = [sample for sample in reading.samples if sample.signal == "softnet_dropped_packets"]
    assert [(sample.labels, sample.value) for sample in dropped] == [(("0",), 2), (("2",), 2)]
    assert reading.unseen == ()
    assert undeclared(Softnet(), reading) == []
    assert not [sample for sample in reading.samples if sample.signal == "softnet_backlog_packets"]


def test_rows_without_a_cpu_are_not_guessed(tmp_path: Path) -> None:
    reading = Softnet().read(captured(tmp_path, {"/proc/net/softnet_stat": OLD * 2, ONLINE: b"0-3\n"}))
    assert reading.samples == ()
    assert "does not number the rows" in reading.unseen[0].reason
