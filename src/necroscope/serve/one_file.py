"""One file for a ticket: the page with the answers of one window in it. It opens from disk, asks nobody, and its policy
lets no other script run.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
from collections.abc import Iterator
from typing import Any

from necroscope.clock import NS
from necroscope.errors import BadInput, NecroscopeError
from necroscope.query.extent import extent_of_all
from necroscope.serve.answers.answer import Answer
from necroscope.serve.asked import Asked
from necroscope.serve.endpoints import Endpoint, endpoints
from necroscope.serve.inlined import script
from necroscope.serve.opened import Opened
from necroscope.serve.static_files import files
from necroscope.vocabulary.event import Window
from necroscope.vocabulary.verdict import Verdict

LONGEST_NS = 600 * NS
_LOOKS = ("busy", "system", "user", "irq", "idle")
_ROWS = ("core", "process", "thread", "cgroup")
_NEAR_NS = 5 * NS
_Kept = dict[str, Any]


def one_file(opened: Opened, verdict: Verdict) -> bytes:
    """The document. `BadInput` for a store that is longer than ten minutes, or empty."""
    window = extent_of_all(opened.whole())
    if window is None:
        raise BadInput("There is nothing to show.", "choose another moment")
    if window[1] - window[0] > LONGEST_NS:
        raise BadInput("One file holds ten minutes at most.", "pack a shorter window")
    by_path = {one.path: one for one in endpoints()}
    kept = [one for asked in _questions(window, verdict) if (one := _answered(opened, by_path, *asked)) is not None]
    return _document(kept)


def _questions(window: Window, verdict: Verdict) -> Iterator[tuple[str, dict[str, str]]]:
    """What a reader of the file can ask: the whole map, the inside of the moment, and the flame graphs of it."""
    whole = {"from": str(window[0]), "to": str(window[1])}
    yield "/recording", {}
    yield "/flags", whole
    yield "/tracks", {**whole, "columns": "1000"}
    yield from (("/cores", {**whole, "columns": "1000", "look": look}) for look in _LOOKS)
    yield "/why", {}
    yield "/zombies", {"at": str(window[1])}
    yield from (("/moment", {**whole, "columns": "1500", "rows": rows}) for rows in _ROWS)
    moments = [window]
    if verdict.window is not None:
        held = max(window[0], verdict.window[0]), min(window[1], verdict.window[1])
        near = {"from": str(max(window[0], held[0] - _NEAR_NS)), "to": str(min(window[1], held[1] + _NEAR_NS))}
        yield from (("/moment", {**near, "columns": "1500", "rows": rows}) for rows in _ROWS)
        moments.append(held)
    cpu = verdict.cause.cpu if verdict.cause is not None else None
    for low, high in moments:
        chosen = {"from": str(low), "to": str(high)}
        for core in ({}, {"cpus": str(cpu)}) if cpu is not None else ({},):
            yield "/flame", {**chosen, **core}
            if (low, high) != window:
                yield "/flame", {**chosen, **core, "against": "usual"}


def _answered(opened: Opened, by_path: dict[str, Endpoint], path: str, asked: dict[str, str]) -> _Kept | None:
    """What is asked and answered; None where the recording has nothing of it."""
    endpoint = by_path[path]
    try:
        answer = _complete(opened, endpoint, Asked.of(list(asked.items()), endpoint.parameters))
    except NecroscopeError:
        if path == "/recording":
            raise
        return None
    body = base64.b64encode(gzip.compress(answer.body, 9, mtime=0)).decode()
    return {"path": path.strip("/"), "asked": asked, "body": body}


def _complete(opened: Opened, endpoint: Endpoint, asked: Asked) -> Answer:
    """The answer, read to its end: what gives what it has within a moment is asked until nothing is missing."""
    while True:
        answer = endpoint.answer(opened, asked)
        if b'"not_read":[[' not in answer.body:
            return answer


def _document(kept: list[_Kept]) -> bytes:
    style, code = files()["page.css"].data.decode(), script()
    data = json.dumps({"version": 1, "answers": kept}, separators=(",", ":")).replace("<", "\\u003c")
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_digest(code)}'",
            f"style-src '{_digest(style)}'",
            "img-src blob: data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types lit-html",
        )
    )
    lines = (
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(policy, quote=True)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        '<link rel="icon" href="data:,">',
        "<title>Necroscope</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        '<div id="page"></div>',
        f'<script type="application/json" id="kept">{data}</script>',
        f"<script>{code}</script>",
        "</body>",
        "</html>",
        "",
    )
    return "\n".join(lines).encode()


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
