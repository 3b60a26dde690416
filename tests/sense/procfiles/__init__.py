"""Bytes of real kernel files (Linux 6.18, 2 CPUs), captured hosts made of such bytes, and ways to mangle them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hypothesis import strategies as st

from necroscope.sense.host import Host
from necroscope.sense.sensor import Sensor
from necroscope.vocabulary.model import Reading

_STRANGE = (
    b"",
    b"\0",
    b"-5",
    b"+1",
    b"1_0",
    b"9" * 6000,
    b"18446744073709551616",
    b"\xff\xfe",
    b" ",
    b"\n",
    b":",
    b"nan",
)


def real(name: str) -> bytes:
    """The file of this name, as the kernel wrote it."""
    return Path(__file__).with_name(name).read_bytes()


def captured(root: Path, files: Mapping[str, bytes]) -> Host:
    """A captured host that holds these files and nothing else."""
    for path, content in files.items():
        file = root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return Host(root)


def mangled(text: bytes) -> st.SearchStrategy[bytes]:
    """Any bytes at all, or `text` with up to four places replaced by something strange, or cut short."""
    places = st.tuples(st.integers(0, len(text)), st.integers(0, 12), st.sampled_from(_STRANGE) | st.binary(max_size=8))
    return st.binary(max_size=200) | st.lists(places, max_size=4).map(lambda edits: _edit(text, edits))


def undeclared(sensor: Sensor, reading: Reading) -> list[str]:
    """Samples whose signal the sensor did not declare, or whose labels do not fit the declaration."""
    labels = {signal.name: len(signal.labels) for signal in sensor.signals}
    return [sample.signal for sample in reading.samples if labels.get(sample.signal) != len(sample.labels)]


def _edit(text: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    for at, length, strange in edits:
        text = text[:at] + strange + text[at + length :] if length < 12 else text[:at]
    return text
