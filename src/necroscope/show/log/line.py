"""One line of the recorder's log: for people, for journald, or one JSON document (docs/json.md).

2026-01-02T03:04:05.678Z warning symptom: eth0: Reset reason 15
<4>symptom: eth0: Reset reason 15                 to the journal, which has a clock and a column for the level
{"schema": "necroscope.log/1", "at": "...", "level": "warning", "kind": "symptom", "text": "...", ...}
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from necroscope.clock import iso
from necroscope.show.log.log_line import Level, LogLine
from necroscope.show.plain import plain, valid

PRIORITIES: Mapping[Level, int] = {"error": 3, "warning": 4, "info": 6, "debug": 7}
"""As syslog numbers them."""
_MOST = 2_000


def for_people(line: LogLine, to_journal: bool = False) -> str:
    """A sentence, with its priority for the journal, else with its time."""
    text = plain(" ".join(f"{line.kind}: {line.text}".split()))[:_MOST]
    return f"<{PRIORITIES[line.level]}>{text}" if to_journal else f"{iso(line.at_ns)} {line.level} {text}"


def as_json(line: LogLine, to_journal: bool = False) -> str:
    """A document on one line; to the journal with its priority before it, which journald takes off."""
    own = {"schema": "necroscope.log/1", "at": iso(line.at_ns), "level": line.level, "kind": line.kind}
    document = json.dumps(valid({**own, "text": line.text[:_MOST], **line.fields}), default=str)
    return f"<{PRIORITIES[line.level]}>{document}" if to_journal else document
