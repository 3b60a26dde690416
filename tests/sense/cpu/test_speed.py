"""Frequency, thermal throttling and SMT siblings of cores."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from procfiles import captured, mangled, undeclared

from necroscope.errors import Unavailable
from necroscope.record.plan import slow_sensors
from necroscope.sense.cpu.speed import CpuSpeed, arrangement, parse_count, parse_sibling
from necroscope.sense.host import Host
from necroscope.vocabulary.model import Reading

CPU = "/sys/devices/system/cpu"
CURRENT, HIGHEST = "cpufreq/scaling_cur_freq", "cpufreq/cpuinfo_max_freq"
CORE, PACKAGE = "thermal_throttle/core_throttle_count", "thermal_throttle/package_throttle_count"
SIBLINGS = "topology/thread_siblings_list"
ALL = frozenset(range(128))

Tell = Callable[[float], None]


@pytest.fixture
def pass_s(monkeypatch: pytest.MonkeyPatch) -> Tell:
    """A clock that stands still until seconds are passed."""
    now_s = [1000.0]
    monkeypatch.setattr("necroscope.sense.cpu.speed.clock.elapsed_s", lambda: now_s[0])

    def pass_(seconds: float) -> None:
        now_s[0] += seconds

    return pass_


class CountingHost(Host):
    """Remembers which files were opened, and lets time pass at each frequency."""

    def __init__(self, root: Path, pass_s: Tell, slow_s: float = 0.0) -> None:
        super().__init__(root)
        self.opened: list[str] = []
        self._pass_s, self._slow_s = pass_s, slow_s

    def read(self, path: str, limit: int = 1 << 16) -> bytes:
        self.opened.append(path.removeprefix(f"{CPU}/"))
        if path.endswith(CURRENT):
            self._pass_s(self._slow_s)
        return super().read(path, limit)


def _write(root: Path, online: bytes, files: dict[str, bytes]) -> Host:
    return captured(root, {f"{CPU}/{name}": text for name, text in {"online": online, **files}.items()})


def _core(cpu: int, khz: int, highest: int, siblings: bytes, throttles: int | None = None) -> dict[str, bytes]:
    """A core of intel_pstate; without throttle counts, one of another maker."""
    files = {CURRENT: b"%d\n" % khz, HIGHEST: b"%d\n" % highest, SIBLINGS: siblings}
    if throttles is not None:
        files |= {CORE: b"%d\n" % throttles, PACKAGE: b"%d\n" % (throttles + 100)}
    return {f"cpu{cpu}/{name}": text for name, text in files.items()}


def _values(reading: Reading) -> dict[tuple[str, str], float]:
    return {(sample.signal, sample.labels[0]): sample.value for sample in reading.samples}


def _of(reading: Reading, signal: str) -> dict[int, float]:
    return {int(cpu): value for (name, cpu), value in _values(reading).items() if name == signal}


def _reasons(reading: Reading) -> list[str]:
    return [one.reason for one in reading.unseen]


# -- shapes of machines ----------------------------------------------------------------------------------


def test_intel_pstate(tmp_path: Path) -> None:
    files = _core(0, 3192000, 3500000, b"0,64\n", 12) | _core(64, 800123, 3500000, b"0,64\n", 0)
    reading = CpuSpeed().read(_write(tmp_path, b"0,64\n", files))
    assert _values(reading) == {
        ("cpu_frequency_hertz", "0"): 3_192_000_000,
        ("cpu_frequency_hertz", "64"): 800_123_000,
        ("cpu_frequency_max_hertz", "0"): 3_500_000_000,
        ("cpu_frequency_max_hertz", "64"): 3_500_000_000,
        ("cpu_thermal_throttles", "0"): 12,
        ("cpu_thermal_throttles", "64"): 0,
        ("cpu_package_thermal_throttles", "0"): 112,
        ("cpu_package_thermal_throttles", "64"): 100,
        ("cpu_sibling", "0"): 64,
        ("cpu_sibling", "64"): 0,
    }
    assert reading.unseen == ()
    assert undeclared(CpuSpeed(), reading) == []


def test_a_virtual_machine_that_tells_siblings_only(tmp_path: Path) -> None:
    files = {f"cpu{cpu}/{SIBLINGS}": b"0-1\n" for cpu in (0, 1)}
    reading = CpuSpeed().read(_write(tmp_path, b"0-1\n", files))
    assert _values(reading) == {("cpu_sibling", "0"): 1, ("cpu_sibling", "1"): 0}
    assert _reasons(reading) == ["no core tells its frequency", "no core counts thermal throttling"]


def test_a_machine_that_tells_nothing(tmp_path: Path) -> None:
    files = {f"cpu{cpu}/{SIBLINGS}": b"%d\n" % cpu for cpu in (0, 1)}
    with pytest.raises(Unavailable, match="no core tells its frequency, throttling or sibling"):
        CpuSpeed().read(_write(tmp_path, b"0-1\n", files))


def test_no_throttle_counts_outside_intel(tmp_path: Path) -> None:
    reading = CpuSpeed().read(_write(tmp_path, b"0\n", _core(0, 2000000, 2100000, b"0\n")))
    assert {signal for signal, _ in _values(reading)} == {"cpu_frequency_hertz", "cpu_frequency_max_hertz"}
    assert _reasons(reading) == ["no core counts thermal throttling"]


def test_hybrid_cores_have_their_own_maximum_and_not_all_a_sibling(tmp_path: Path) -> None:
    files = _core(0, 5000000, 5200000, b"0-1\n", 3) | _core(1, 5000000, 5200000, b"0-1\n", 3)
    files |= _core(2, 3700000, 3900000, b"2\n", 0)
    reading = CpuSpeed().read(_write(tmp_path, b"0-2\n", files))
    assert _of(reading, "cpu_frequency_max_hertz") == {0: 5.2e9, 1: 5.2e9, 2: 3.9e9}
    assert _of(reading, "cpu_sibling") == {0: 1, 1: 0}


def test_an_offline_core_is_absent_whatever_its_files_say(tmp_path: Path) -> None:
    files = _core(0, 3000000, 3500000, b"0,2\n", 1) | _core(2, 3000000, 3500000, b"0,2\n", 1)
    reading = CpuSpeed().read(_write(tmp_path, b"0-1\n", files))  # core 1 is online and has no files
    assert {cpu for _, cpu in _values(reading)} == {"0"}
    assert _of(reading, "cpu_sibling") == {}


def test_broken_files_of_one_core_do_not_spoil_the_others(tmp_path: Path) -> None:
    files = _core(0, 3000000, 3500000, b"0-1\n", 1)
    files |= {f"cpu1/{name}": b"\xff\0nonsense" for name in (CURRENT, HIGHEST, SIBLINGS, CORE, PACKAGE)}
    files |= {f"cpu2/{CURRENT}": b"0\n", f"cpu2/{HIGHEST}": b"18446744073709551615\n"}
    reading = CpuSpeed().read(_write(tmp_path, b"0-2\n", files))
    assert _of(reading, "cpu_frequency_hertz") == {0: 3e9}
    assert _of(reading, "cpu_frequency_max_hertz") == {0: 3.5e9}
    assert _of(reading, "cpu_package_thermal_throttles") == {0: 101}
    assert reading.unseen == ()


@pytest.mark.parametrize("online", [b"", b"\n", b"0-1", b"3-1\n", b"0-99999999\n", b"\xff\n", b"0-1,x\n"])
def test_without_a_whole_list_of_online_cores(tmp_path: Path, online: bytes) -> None:
    with pytest.raises(Unavailable, match="CPU"):
        CpuSpeed().read(_write(tmp_path, online, _core(0, 3000000, 3500000, b"0-1\n", 1)))


def test_without_sysfs(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="online does not exist"):
        CpuSpeed().read(Host(tmp_path))


def test_the_core_that_cannot_be_read_any_more(tmp_path: Path) -> None:
    files = _core(0, 3000000, 3500000, b"0\n", 1) | _core(1, 2000000, 3500000, b"1\n", 1)
    host, sensor = _write(tmp_path, b"0-1\n", files), CpuSpeed()
    sensor.read(host)
    for name in (CURRENT, CORE):
        (tmp_path / f"{CPU}/cpu1/{name}".lstrip("/")).unlink()
    reading = sensor.read(host)
    assert _of(reading, "cpu_frequency_hertz") == {0: 3e9}
    assert _of(reading, "cpu_thermal_throttles") == {0: 1}


# -- from look to look -----------------------------------------------------------------------------------


def test_a_counter_that_goes_back_is_reported_as_it_stands(tmp_path: Path) -> None:
    sensor = CpuSpeed()
    values = []
    for throttles in (7, 9, 2):
        host = _write(tmp_path, b"0\n", _core(0, 3000000, 3500000, b"0\n", throttles))
        values.append(_of(sensor.read(host), "cpu_thermal_throttles"))
    assert values == [{0: 7}, {0: 9}, {0: 2}]


def test_what_the_cores_have_is_found_out_anew_each_minute(tmp_path: Path, pass_s: Tell) -> None:
    sensor, host = CpuSpeed(), _write(tmp_path, b"0\n", _core(0, 3000000, 3500000, b"0\n", 1))
    sensor.read(host)
    _write(tmp_path, b"0\n", _core(0, 3000000, 2500000, b"0\n", 1))
    pass_s(59.0)
    assert _of(sensor.read(host), "cpu_frequency_max_hertz") == {0: 3.5e9}
    pass_s(1.0)
    assert _of(sensor.read(host), "cpu_frequency_max_hertz") == {0: 2.5e9}


def test_a_core_that_comes_is_seen_at_once(tmp_path: Path, pass_s: Tell) -> None:
    sensor = CpuSpeed()
    files = _core(0, 3000000, 3500000, b"0\n", 1)
    assert _of(sensor.read(_write(tmp_path, b"0\n", files)), "cpu_sibling") == {}
    files = _core(0, 3000000, 3500000, b"0-1\n", 1) | _core(1, 3000000, 3500000, b"0-1\n", 1)
    reading = sensor.read(_write(tmp_path, b"0-1\n", files))
    assert _of(reading, "cpu_sibling") == {0: 1, 1: 0}
    assert set(_of(reading, "cpu_frequency_hertz")) == {0, 1}


def test_slow_frequencies_stop_at_the_budget_and_go_on_there(tmp_path: Path, pass_s: Tell) -> None:
    files: dict[str, bytes] = {}
    for cpu in range(10):
        files |= _core(cpu, 1000000 + cpu, 3500000, b"%d\n" % cpu, 1)
    _write(tmp_path, b"0-9\n", files)
    host, sensor = CountingHost(tmp_path, pass_s, slow_s=0.25), CpuSpeed()
    looks = [sensor.read(host) for _ in range(4)]
    assert [list(_of(one, "cpu_frequency_hertz")) for one in looks] == [
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [8, 9, 0, 1],
        [2, 3, 4, 5],
    ]
    assert [len(_of(one, "cpu_thermal_throttles")) for one in looks] == [10] * 4
    assert [one.unseen for one in looks] == [()] * 4


def test_fewer_cores_while_it_is_in_the_middle_of_them(tmp_path: Path, pass_s: Tell) -> None:
    files: dict[str, bytes] = {}
    for cpu in range(8):
        files |= _core(cpu, 1000000, 3500000, b"%d\n" % cpu)
    _write(tmp_path, b"0-7\n", files)
    host, sensor = CountingHost(tmp_path, pass_s, slow_s=0.2), CpuSpeed()
    assert list(_of(sensor.read(host), "cpu_frequency_hertz")) == [0, 1, 2, 3, 4]
    _write(tmp_path, b"0-2\n", {})
    assert set(_of(sensor.read(host), "cpu_frequency_hertz")) == {0, 1, 2}


def test_of_512_cores_only_what_moves_is_read(tmp_path: Path, pass_s: Tell) -> None:
    files: dict[str, bytes] = {}
    for cpu in range(512):
        files |= _core(cpu, 2000000 + cpu, 3500000, b"%d,%d\n" % (cpu % 256, cpu % 256 + 256), cpu)
    _write(tmp_path, b"0-511\n", files)
    host, sensor = CountingHost(tmp_path, pass_s), CpuSpeed()
    reading = sensor.read(host)
    assert len(reading.samples) == 5 * 512
    assert _of(reading, "cpu_sibling")[300] == 44
    host.opened.clear()
    assert sensor.read(host) == reading
    moving = {f"cpu{cpu}/{name}" for cpu in range(512) for name in (CURRENT, CORE, PACKAGE)}
    assert sorted(host.opened) == sorted({"online", *moving})


# -- parsers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"3192000\n", 3192000),
        (b"0\n", 0),
        (b"3192000", None),  # cut
        (b"", None),
        (b"\n", None),
        (b"<unknown>\n", None),
        (b"-1\n", None),
        (b"1\n2\n", None),
        (b"18446744073709551616\n", None),
    ],
)
def test_the_number_of_a_file(text: bytes, value: int | None) -> None:
    assert parse_count(text) == value


@pytest.mark.parametrize(
    ("text", "cpu", "sibling"),
    [
        (b"0,64\n", 0, 64),
        (b"0,64\n", 64, 0),
        (b"0-1\n", 1, 0),
        (b"4-7\n", 4, 5),  # SMT4
        (b"4-7\n", 6, 4),
        (b"5\n", 5, None),
        (b"0,64\n", 3, None),  # another core's list
        (b"0,500\n", 0, None),  # offline
        (b"0,64", 0, None),  # cut: 64 may have been 640
        (b"0,x\n", 0, None),
        (b"1-0\n", 0, None),
        (b"0-4294967295\n", 0, None),
        (b"\n", 0, None),
        (b"", 0, None),
    ],
)
def test_the_sibling_of_a_core(text: bytes, cpu: int, sibling: int | None) -> None:
    assert parse_sibling(text, cpu, ALL) == sibling


@given(mangled(b"0-3,64-67\n"))
def test_no_bytes_break_it(text: bytes) -> None:
    value, sibling = parse_count(text), parse_sibling(text, 0, ALL)
    assert value is None or value >= 0
    assert sibling is None or (sibling in ALL and sibling != 0)


def test_an_arrangement_has_a_most_of_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("necroscope.sense.cpu.speed.MOST_CORES", 2)
    files: dict[str, bytes] = {}
    for cpu in range(4):
        files |= _core(cpu, 1000000, 3500000, b"%d\n" % cpu)
    host = _write(tmp_path, b"0-3\n", files)
    assert arrangement(host, b"0-3\n").frequencies == (0, 1)


# -- the recorder ----------------------------------------------------------------------------------------


def test_it_is_the_last_of_the_slow_sensors() -> None:
    assert isinstance(slow_sensors()[-1], CpuSpeed)


def test_this_machine() -> None:
    files = {int(one.parts[5][3:]): one for one in Path(CPU).glob(f"cpu[0-9]*/{HIGHEST}")}
    if not files:
        pytest.skip("this machine tells no frequencies")
    reading = CpuSpeed().read(Host())
    highest = _of(reading, "cpu_frequency_max_hertz")
    assert highest == {cpu: int(file.read_text()) * 1000 for cpu, file in files.items()}
    assert undeclared(CpuSpeed(), reading) == []
