"""How much of the opener's and parser's time a tenant may have, and for how long one is left alone that cost a child.

Time: three seconds at once, two hundredths of a core on. A fault (a child that had to be ended) closes the door for ten
seconds, twice as long each time, up to ten minutes; it opens by itself, and an hour without faults forgets them.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

BURST_S, RATE = 3.0, 0.02
FIRST_S, LONGEST_S = 10.0, 600.0
_FORGOTTEN_S = 3600.0
_TENANTS = 4096


@dataclass(slots=True)
class _Account:
    left_s: float
    since_s: float
    closed_until_s: float = 0.0
    faults: int = 0
    fault_s: float = 0.0


class BackOff:
    """Accounts of tenants; times are of a monotonic clock."""

    def __init__(self) -> None:
        self._accounts: OrderedDict[int, _Account] = OrderedDict()

    def closed(self, tenant: int, now_s: float) -> bool:
        """Whether this tenant is left alone because of a fault."""
        account = self._accounts.get(tenant)
        return account is not None and now_s < account.closed_until_s

    def spent(self, tenant: int, now_s: float) -> bool:
        """Whether this tenant has used up its time."""
        return self._account(tenant, now_s).left_s <= 0

    def charge(self, tenant: int, now_s: float, seconds: float) -> None:
        """Time that was spent for this tenant."""
        self._account(tenant, now_s).left_s -= seconds

    def fault(self, tenant: int, now_s: float) -> float:
        """A child was lost over this tenant's file; for how many seconds the door is closed now."""
        account = self._account(tenant, now_s)
        if now_s - account.fault_s > _FORGOTTEN_S:
            account.faults = 0
        seconds = min(LONGEST_S, FIRST_S * 2.0 ** min(account.faults, 16))
        account.faults += 1
        account.fault_s = now_s
        account.closed_until_s = now_s + seconds
        return seconds

    def _account(self, tenant: int, now_s: float) -> _Account:
        account = self._accounts.get(tenant)
        if account is None:
            account = self._accounts[tenant] = _Account(BURST_S, now_s)
            while len(self._accounts) > _TENANTS:
                self._accounts.popitem(last=False)
        account.left_s = min(BURST_S, account.left_s + (now_s - account.since_s) * RATE)
        account.since_s = now_s
        self._accounts.move_to_end(tenant)
        return account
