"""Lines of Ray's logs: their times, and the few that tell of a failure.

    [2026-11-16 18:01:36,405 C 3315 3315] (raylet) node_manager.cc:971: ...   raylet.out, gcs_server.out, python-core-*
    2026-11-16 18:01:22,466\tINFO job_supervisor.py:437 -- ...                 Python: dashboard, drivers, jobs
    {"label":"RAY_NODE_REMOVED","message":"...","timestamp":1794852089,...}   events/event_*.log
    {"asctime":"2026-11-16 18:01:22,466","message":"...",...}                 structured logging, RAY_BACKEND_LOG_JSON=1
    I0807 17:00:41.812641 71814 71814 worker_pool.cc:265] ...                 before Ray 1.2

Texts were read in Ray 2.60 and, where older ones differ, in the logs that its users published (1.9 to 2.50).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from necroscope.sense.importers.logs.wrapping import unwrap

_STAMP = rb"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[,.](\d{3,6})"
_CORE = re.compile(
    rb"\[" + _STAMP + rb" ([IWECDF]) \d{1,10} \d{1,10}\] ?(?:\([\w-]{1,60}\) )?([\w./-]{1,200}\.(?:cc|h)):\d{1,6}: ?"
)
_PYTHON = re.compile(_STAMP + rb"\s{1,8}([A-Z]{1,12}) (?:\([\w-]{1,60}\) )?([\w./<>-]{1,200}):\d{1,6} -- ?")
# Before Ray 1.2, and without a year.
_GLOG = re.compile(
    rb"([IWEF])(\d\d)(\d\d) (\d\d:\d\d:\d\d)\.(\d{6}) +\d{1,10} \d{1,10} ([\w./-]{1,200}\.(?:cc|h)):\d{1,6}\] ?"
)
_PREFIX = re.compile(rb"\([^()]{1,120}\) ")
_ID = rb"([0-9a-f]{8,64})"
_IDS = ("job_id", "node_id", "worker_id", "actor_id", "task_id", "object_id")
_UTC = re.compile(rb" timestamp_ns=(\d{19})\s*$")
_LIMIT = 8192
S = 1_000_000_000
_ANY = re.compile(
    rb"ealth check failed|marked dead|marked as dead|death reason|imed out|ime out|is failed on worker"
    rb"|failed with error|worker died or was killed|neither in memory nor|lost object|exceptions\.|memory pressure"
    rb"|command exited with code|ray job|as finished|marking job state|supervisor actor for|Job '|heartbeat was sent"
    rb"|registered|to register|OOM"
)


@dataclass(frozen=True, slots=True)
class RayLine:
    """A line with its time (None: it has none of its own), without what comes before the message. `dated` is False
    where the time lacks its year: it is of 1972. `utc_ns`: the same in UTC, where the line tells that too."""

    at_ns: int | None
    text: bytes
    step_ns: int = 1_000_000
    dated: bool = True
    utc_ns: int | None = None


@dataclass(frozen=True, slots=True)
class RayEvent:
    """What a line tells: the kind of event, and whom it is about (an id, or empty); a process and for how long nothing
    was heard, where it names them."""

    kind: str
    subject: str
    pid: int | None = None
    stall_s: float | None = None


@dataclass(frozen=True, slots=True)
class _Pattern:
    kind: str
    regex: re.Pattern[bytes]


def _pattern(kind: str, *regexes: bytes) -> tuple[_Pattern, ...]:
    return tuple(_Pattern(kind, re.compile(regex, re.DOTALL)) for regex in regexes)


# Searched for anywhere in a line, and linear in its length: what is open-ended in them is bounded.
_WORKERS = rb"Some workers of the worker process\((?P<pid>\d{1,10})\) have not "
_RAISED = rb"\A(?:\S{1,200} )?ray\.exceptions\."
PATTERNS = (
    *_pattern("ray-health-check-failed", rb"Health check failed for node " + _ID),
    *_pattern(
        "ray-node-dead",
        rb"Node is dead because the health check failed\. {1,8}node_id=" + _ID,
        rb"The node with node id: " + _ID + rb" and .{0,200}has been marked dead because the detector",
        rb"death reason = UNEXPECTED_TERMINATION.{0,300}?node_id=" + _ID,
        rb"Exiting because this node manager has mistakenly been marked(?: as)? dead()",
        rb"This node has bee[nm] marked as dead()",
        rb"Node timed out[:,]? {0,8}" + _ID,
    ),
    *_pattern("ray-node-left", rb"death reason = EXPECTED_TERMINATION.{0,300}?node_id=" + _ID),
    *_pattern("ray-heartbeat-late", rb"Last heartbeat was sent ()(?P<late_ms>\d{1,18}) ms ago"),
    *_pattern(
        "ray-actor-died",
        rb"Actor is failed on worker (?>.{0,200}?need_reschedule = 1).{0,2000}?actor_id=" + _ID,
        rb"Actor " + _ID + rb" is failed on worker .{0,200}need_reschedule = 1",
        rb"Task attempt [0-9a-f]{16}([0-9a-f]{32}) failed with error ACTOR_(?:DIED|UNAVAILABLE)",
        _RAISED + rb"(?:ActorDiedError|RayActorError|ActorUnavailableError): ?()",
    ),
    *_pattern(
        "ray-worker-died",
        rb"A worker died or was killed while executing a task.{0,400}?Worker ID: " + _ID,
        rb"Task attempt ([0-9a-f]{48}) failed with error WORKER_DIED",
        _RAISED + rb"WorkerCrashedError: ?()",
    ),
    *_pattern(
        "ray-worker-not-registered",
        _WORKERS + rb"registered (?:to raylet )?within (?:the )?timeout",
        _WORKERS + rb"been registering to raylet",
        rb"Some workers(?: of the worker process)? have not registered (?:to raylet )?within (?:the )?timeout()",
        rb"Failed to register worker " + _ID + rb" to Raylet",
        rb"Failed to register worker to Raylet(?:.{0,400}?worker_id=" + _ID + rb")?",
    ),
    *_pattern(
        "ray-object-lost",
        rb"Object neither in memory nor external storage " + _ID,
        rb"Attempting to recover \d{1,18} lost objects()",
        rb"failed with error OBJECT_(?:LOST|UNRECONSTRUCTABLE)()",
        _RAISED
        + rb"(?:ObjectLostError|OwnerDiedError|ObjectReconstructionFailed\w{0,60}): (?:\D{0,400}?"
        + _ID
        + rb")?",
    ),
    *_pattern(
        "ray-fetch-timeout",
        rb"Object time out " + _ID,
        rb"Fetch for object " + _ID + rb" timed out",
        _RAISED + rb"(?:ObjectFetchTimedOutError|GetTimeoutError): ?()",
    ),
    *_pattern(
        "ray-oom-kill",
        rb"(?:killed|Killing worker).{0,200}memory pressure()",
        rb"workers? \(tasks / actors\) killed due to memory pressure \(OOM\)()",
        _RAISED + rb"OutOfMemoryError: ?()",
    ),
    *_pattern(
        "ray-job-failed",
        rb"Job (\S{1,100}) entrypoint command exited with code (?!0\b)",
        rb"Completed a ray job (\S{1,100}) with a status FAILED",
        rb"[Jj]ob supervisor actor for (\S{1,100}) died",
        rb"Job '(\S{1,100})' failed",
    ),
    *_pattern(
        "ray-job-ended",
        rb"Job (\S{1,100}) entrypoint command exited with code 0\b",
        rb"Completed a ray job (\S{1,100}) with a status (?:SUCCEEDED|STOPPED)",
        rb"Job '(\S{1,100})' (?:succeeded|was stopped)",
        rb"Marking job as finished\. {1,8}job_id=" + _ID,
        rb"Finished marking job state, job id = " + _ID,
    ),
)
_INTENDED = (
    re.compile(rb"Task attempt [0-9a-f]{16}([0-9a-f]{32}) .{0,4000}?IntentionalSystemExit", re.DOTALL),
    re.compile(rb"Actor is failed on worker (?>.{0,200}?need_reschedule = 0).{0,2000}?actor_id=" + _ID, re.DOTALL),
)


def parse_line(line: bytes) -> RayLine:
    """A line of any of Ray's logs; without a time of its own where it goes on from the one before."""
    line = unwrap(line).line
    if line.startswith(b"{"):
        return _json_line(line)
    if (named := _PREFIX.match(line)) is not None:
        line = line[named.end() :]
    found = _CORE.match(line) or _PYTHON.match(line)
    if found is not None:
        utc = _UTC.search(line[-64:])
        utc_ns = int(utc[1]) if utc is not None else None
        return RayLine(_ns(found[1].decode(), found[2].decode()), line[found.end() :], utc_ns=utc_ns)
    if (old := _GLOG.match(line)) is not None:
        date = b"1972-%b-%b %b" % old.group(2, 3, 4)
        return RayLine(_ns(date.decode(), old[5].decode()), line[old.end() :], dated=False)
    return RayLine(None, line)


def ray_event(text: bytes) -> RayEvent | None:
    """The failure that a message tells of, or None. What follows its first 8 KiB tells nothing."""
    text = text[:_LIMIT]
    if _ANY.search(text) is None:
        return None
    for pattern in PATTERNS:
        if (found := pattern.regex.search(text)) is not None:
            named = found.groupdict()
            return RayEvent(
                pattern.kind,
                (found[1] or b"").decode("utf-8", "replace"),
                pid=int(named["pid"]) if named.get("pid") else None,
                stall_s=int(named["late_ms"]) / 1000 if named.get("late_ms") else None,
            )
    return None


def intended_actor(text: bytes) -> str:
    """The actor that a line says to have ended as it should; empty for other lines."""
    text = text[:_LIMIT]
    for regex in _INTENDED:
        if (found := regex.search(text)) is not None:
            return found[1].decode()
    return ""


def _json_line(line: bytes) -> RayLine:
    try:
        entry: Any = json.loads(line)
        text = entry["message"].encode("utf-8", "replace").replace(b"\n", b" ")
        # Where lines are text, these stand behind the message.
        for name in _IDS:
            if isinstance(value := entry.get(name), str):
                text += f" {name}={value}".encode("utf-8", "replace")
        moment = entry.get("asctime") or entry.get("time_stamp")
        if isinstance(moment, str):
            return RayLine(
                _ns(*re.split("[,.]", moment, maxsplit=1)), text, utc_ns=_epoch_ns(entry.get("timestamp_ns"))
            )
        seconds = int(entry["timestamp"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        return RayLine(None, line)
    at_ns = seconds * S if 0 < seconds < 1 << 33 else None
    return RayLine(at_ns, text, S, utc_ns=at_ns)


def _epoch_ns(value: Any) -> int | None:
    return value if isinstance(value, int) and 0 < value < 1 << 62 else None


def _ns(date: str, fraction: str = "0") -> int | None:
    try:
        moment = datetime.strptime(date, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    except ValueError:
        return None
    return int(moment.timestamp()) * S + int(fraction[:9].ljust(9, "0"))
