"""The recorder is killed (SIGKILL) and started again: what it had recorded is whole, and the hole is told.

Right when `verify` finds no damage before and after, samples from before and after are there, and `events` has the gap
with its reason.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from guests.jobs.program import ask, begun, document, recording, say

RECORDED_S, DEAD_S, AGAIN_S = 15.0, 3.0, 30.0
_REASON = "without a clean shutdown"


def main() -> int:
    """0 when nothing was lost but the hole, and that is told."""
    recorder = begun()
    time.sleep(RECORDED_S)
    killed_ns = time.time_ns()
    recorder.kill()
    recorder.wait()
    killed = ask("verify")
    time.sleep(DEAD_S)
    with recording():
        time.sleep(AGAIN_S)
    ended = ask("verify")
    told = gaps(document("events"))
    before, after = (_samples(f"at_ns {side} {killed_ns}") for side in ("<", ">"))
    say("\n".join([killed[1], ended[1], *told, f"{before} samples from before the kill, {after} from after it"]))
    return 0 if (killed[0], ended[0]) == (0, 0) and told and before and after else 1


def gaps(events: dict[str, Any]) -> list[str]:
    """The holes that are put down to a recorder that was killed."""
    return [one["text"] for one in events["events"] if _REASON in one["text"]]


def _samples(which: str) -> int:
    rows = json.loads(ask("sql", "--json", f"select count(*) as samples from samples where {which}")[1])
    return int(rows[0]["samples"])


if __name__ == "__main__":
    sys.exit(main())
