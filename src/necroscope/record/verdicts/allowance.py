"""CPU time that verdicts may take: a share of one core, averaged over an hour. A bucket that fills as time passes."""

from __future__ import annotations

HOUR_S = 3_600.0
# Before any verdict was made: what one costs on two cores, give or take.
_FIRST_S = 3.0


class Allowance:
    """Full at the start. What a verdict cost beyond what was left is paid back before the next one."""

    def __init__(self, share: float, now_s: float) -> None:
        self.share = share
        self._left_s, self._at_s = share * HOUR_S, now_s
        self._usual_s = _FIRST_S

    def wait_s(self, now_s: float) -> float:
        """For how long the next question has to wait; 0: it may be asked now."""
        self._fill(now_s)
        needed_s = min(self._usual_s, self.share * HOUR_S) - self._left_s
        if needed_s <= 0:
            return 0.0
        return needed_s / self.share if self.share > 0 else HOUR_S

    def spend(self, cpu_s: float, now_s: float) -> None:
        """A question took so much."""
        self._fill(now_s)
        self._left_s -= cpu_s
        self._usual_s += 0.3 * (cpu_s - self._usual_s)

    def _fill(self, now_s: float) -> None:
        passed_s, self._at_s = max(0.0, now_s - self._at_s), now_s
        self._left_s = min(self.share * HOUR_S, self._left_s + passed_s * self.share)
