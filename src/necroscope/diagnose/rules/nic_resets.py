"""Resets and timeouts that the network driver itself has counted."""

from __future__ import annotations

import re
from collections.abc import Iterator

from necroscope.diagnose.fact import Nics
from necroscope.quantity import count
from necroscope.vocabulary.model import Evidence, Finding, Subject

# Statistics as drivers name them: total_resets, suspected_poll_starvation, missing_tx_cmpl, os_netdev_wd, tx_timeout,
# tx_timeout_count, tx_queue_timeouts, device_reset..., with or without a device prefix.
_TROUBLE = re.compile(
    r"(?:^|_)(?:resets?|tx_timeouts?|tx_timeout_count|poll_starvation|missing_tx_cmpl|netdev_wd|tx_hang)$"
)


def nic_resets(nics: Nics) -> Iterator[Finding]:
    """Finds network devices whose driver counts resets, transmit timeouts or starved polling since it was loaded."""
    for nic in nics.items:
        trouble = [(name, value) for name, value in nic.statistics if value > 0 and _TROUBLE.search(name)]
        if trouble:
            total = max(value for _, value in trouble)
            yield Finding(
                "nic-driver-resets",
                "warning",
                f"driver {nic.driver} counts {count(total)} resets or timeouts of {nic.name} since it was loaded",
                Subject("device", nic.name),
                tuple(
                    Evidence(f"{name} {count(value)}", f"{nic.name} driver statistics", value)
                    for name, value in trouble
                ),
                ("find what held the core that polls this device in the seconds before: a recording shows it",),
            )
