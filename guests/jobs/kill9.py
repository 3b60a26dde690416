"""The recorder is killed (SIGKILL) and started again: what it had recorded is whole, and the hole is told.

Right when `verify` finds no damage before and after, and `events` has the gap with its reason.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from guests.jobs.program import ask, document, recorder_from, recording, say

RECORDED_S, DEAD_S = 15.0, 3.0
_REASON = "without a clean shutdown"


def main() -> int:
    """0 when nothing was lost but the hole, and that is told."""
    recorder = recorder_from()
    time.sleep(RECORDED_S)
    recorder.kill()
    recorder.wait()
    killed = ask("verify")
    time.sleep(DEAD_S)
    with recording(time.time_ns()):
        time.sleep(RECORDED_S)
    ended = ask("verify")
    told = gaps(document("events"))
    say("\n".join([killed[1], ended[1], *told]))
    return 0 if (killed[0], ended[0]) == (0, 0) and told else 1


def gaps(events: dict[str, Any]) -> list[str]:
    """The holes that are put down to a recorder that was killed."""
    return [one["text"] for one in events["events"] if _REASON in one["text"]]


if __name__ == "__main__":
    sys.exit(main())
