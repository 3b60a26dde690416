"""Requests that wait: bounded for each tenant and in sum, and taken from the tenants in turn."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from typing import Generic, TypeVar

T = TypeVar("T")
MOST, MOST_OF_ONE = 1024, 256


class FairQueue(Generic[T]):
    """Filled by one thread, emptied by another."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[int, deque[T]] = OrderedDict()
        self._count = 0
        self._changed = threading.Condition()
        self._closed = False

    def put(self, tenant: int, item: T) -> bool:
        """Add a request; False when there is no room."""
        with self._changed:
            mine = self._waiting.get(tenant)
            if self._count >= MOST or (mine is not None and len(mine) >= MOST_OF_ONE):
                return False
            if mine is None:
                mine = self._waiting[tenant] = deque()
            mine.append(item)
            self._count += 1
            self._changed.notify()
            return True

    def take(self, timeout_s: float) -> tuple[int, T] | None:
        """The next request of the tenant whose turn it is; None when none came in time."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._waiting) or self._closed, timeout_s)
            if self._closed or not self._waiting:
                return None
            tenant, mine = self._waiting.popitem(last=False)
            item = mine.popleft()
            if mine:
                self._waiting[tenant] = mine
            self._count -= 1
            return tenant, item

    def close(self) -> None:
        """Hand out nothing more, and let whoever waits go."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
