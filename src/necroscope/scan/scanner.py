"""`scan`: two looks of the sensors into a store in memory, then the same rules as for a recording.

The first look is short and reads only what must be compared with itself (core times, processes); then the node is
left alone for the window, so that the scan does not measure itself; then every sensor looks once.
"""

from __future__ import annotations

from collections.abc import Iterable

from necroscope import clock
from necroscope.config import Config
from necroscope.diagnose.engine import diagnose, rules
from necroscope.errors import Unavailable
from necroscope.scan.facts import facts
from necroscope.scan.meter import Meter
from necroscope.sense.host import Host
from necroscope.sense.log.symptoms import catalogue
from necroscope.sense.registry import scanned
from necroscope.sense.sensor import Sensor, look
from necroscope.store.memory import MemoryStore
from necroscope.vocabulary.model import Census, HostIdentity, ScanReport

WINDOW_S = 0.25
# From this window on it is worth counting zombies twice, to see them grow.
_TWO_CENSUSES_S = 2.0

_COMPARED = ("cpu", "processes")


class Scanner:
    """Scans one host, once or again and again; the last look is kept to compare with.

    `whole_process` makes the first report's cost that of the whole process, start-up included.
    """

    def __init__(
        self, host: Host, config: Config, sensors: Iterable[Sensor] | None = None, whole_process: bool = False
    ) -> None:
        self._host = host
        self._config = config
        self._sensors = tuple(sensor() for sensor in scanned()) if sensors is None else tuple(sensors)
        self._store = MemoryStore()
        self._meter = Meter(whole_process)
        self._looked = False

    def scan(self, window_s: float = WINDOW_S) -> ScanReport:
        """Look, wait for the window, look again, and judge. A captured host does not move: it is looked at once."""
        if not self._looked and not self._host.captured:
            self._store.add(look(self._first(window_s), self._host))
        if not self._host.captured:
            clock.sleep(window_s)
        self._store.add(look(self._sensors, self._host))
        self._looked = True
        return self._report()

    def _first(self, window_s: float) -> list[Sensor]:
        names = (*_COMPARED, "memcg") if window_s >= _TWO_CENSUSES_S else _COMPARED
        return [sensor for sensor in self._sensors if sensor.name in names]

    def _report(self) -> ScanReport:
        at_ns = _now_ns(self._host)
        identities, censuses = self._store.latest(HostIdentity), self._store.latest(Census)
        instants = self._store.instants("cpu")
        diagnosis = diagnose(facts(self._store, self._config, at_ns), rules(catalogue().kinds))
        return ScanReport(
            host=identities[0] if identities else HostIdentity("unknown", "unknown", "unknown", None),
            at_ns=at_ns,
            window_s=(instants[-1] - instants[0]) / clock.NS if len(instants) > 1 else 0.0,
            census=censuses[0] if censuses else None,
            diagnosis=diagnosis,
            unseen=self._store.unseen(),
            cost=self._meter.read(),
            captured=self._host.captured,
        )


def _now_ns(host: Host) -> int:
    try:
        return host.clock().realtime_ns
    except Unavailable:
        return clock.now().realtime_ns
