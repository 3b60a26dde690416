"""A look at sensors: what one of them cannot see, or gets wrong, is its own affair."""

from __future__ import annotations

from typing import ClassVar

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.sensor import Reading, look
from necroscope.vocabulary.model import Sample, Signal


class Broken:
    name: ClassVar[str] = "broken"
    signals: ClassVar[tuple[Signal, ...]] = ()

    def read(self, host: Host) -> Reading:
        raise ZeroDivisionError("division by zero")


class Blind(Broken):
    name: ClassVar[str] = "blind"

    def read(self, host: Host) -> Reading:
        raise Unavailable("nothing to see", "look elsewhere")


class Sound(Broken):
    name: ClassVar[str] = "sound"

    def read(self, host: Host) -> Reading:
        return Reading(samples=(Sample("ones", 1.0),))


def test_a_defect_of_one_sensor_is_reported_and_the_others_are_read() -> None:
    broken, blind, sound = look([Broken(), Blind(), Sound()], Host())
    assert broken.reading.unseen[0].reason == "it failed: ZeroDivisionError: division by zero"
    assert "report" in broken.reading.unseen[0].hint
    assert (blind.reading.unseen[0].reason, blind.reading.unseen[0].hint) == ("nothing to see", "look elsewhere")
    assert sound.reading.samples == (Sample("ones", 1.0),)
