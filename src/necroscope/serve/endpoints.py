"""Every question of the API: its path, what it takes and what answers it. Routes and the OpenAPI document come from
here, so that neither can have what the other lacks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from necroscope import __version__
from necroscope.query.samples.moment import MOST_ROWS
from necroscope.serve.answers import cores, events, flame, moment, recording, tracks, why, zombies
from necroscope.serve.answers.answer import Answer
from necroscope.serve.asked import MOST_LISTED, MOST_TEXT, Asked, Parameter
from necroscope.serve.binary import MEDIA_TYPE
from necroscope.serve.opened import Opened

PREFIX = "/api/v1"
Question = Callable[[Opened, Asked], Answer]

_WINDOW = (
    Parameter("from", "first moment, UTC nanoseconds", "integer", required=True),
    Parameter("to", "last moment, UTC nanoseconds, inclusive", "integer", required=True),
)
_COLUMNS = Parameter("columns", "at most so many columns", "integer", required=True)


def _samples(prefix: str = "") -> tuple[Parameter, ...]:
    return (
        Parameter(f"{prefix}cpus", f"only these cores, commas between them, at most {MOST_LISTED}"),
        Parameter(f"{prefix}pids", "only these processes"),
        Parameter(f"{prefix}tids", "only these threads"),
        Parameter(f"{prefix}cgroups", "only these cgroups and what is below them: a JSON list of paths"),
    )


_SAMPLES = (*_samples(), Parameter("comms", "only threads of these names: a JSON list"))
_SIFTED = (
    Parameter("include", f"only stacks with this text in a function or module, at most {MOST_TEXT} characters"),
    Parameter("exclude", "no stacks with this text"),
)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One question. `binary` answers are columns (`serve/binary.py`), others JSON documents. `limit_s`: a question that
    takes longer is stopped."""

    path: str
    summary: str
    parameters: tuple[Parameter, ...]
    answer: Question
    binary: bool = False
    limit_s: float = 20.0


def endpoints() -> tuple[Endpoint, ...]:
    """All of them; verdicts are remembered as long as these are used."""
    return (
        Endpoint("/recording", "Which host, from when to when, which cores, live or not.", (), recording.recording),
        Endpoint(
            "/cores",
            "The map of cores: mean, highest second and longest full stretch by core and column.",
            (*_WINDOW, _COLUMNS, Parameter("look", "what of the core's time", choices=cores.LOOKS, default="busy")),
            cores.cores,
            binary=True,
        ),
        Endpoint(
            "/tracks",
            "Zombies, restarts, run delay, pressure, quotas, faults, reclaim, network and GPU by column.",
            (*_WINDOW, _COLUMNS),
            tracks.tracks,
            binary=True,
        ),
        Endpoint("/flags", "Symptoms, marks, gaps and what the recorder tells of itself.", _WINDOW, events.events),
        Endpoint(
            "/moment",
            f"The inside of a moment of ten minutes at most: the {MOST_ROWS} busiest rows by bins of milliseconds.",
            (
                *_WINDOW,
                _COLUMNS,
                Parameter("rows", "what a row is", choices=moment.ROWS, default="core"),
                *_SAMPLES,
                *_SIFTED,
                Parameter("search", "mark what has this text in a function or module"),
            ),
            moment.inside,
            binary=True,
        ),
        Endpoint(
            "/flame",
            "A flame graph of the chosen samples, alone or against a baseline.",
            (
                *_WINDOW,
                *_SAMPLES,
                *_SIFTED,
                Parameter("against", "none; usual: other times of this node; or FROM-TO", default="none"),
                *_samples("against_"),
                Parameter("inverted", "innermost frames outermost", choices=("no", "yes"), default="no"),
            ),
            flame.flame,
            binary=True,
            limit_s=60.0,
        ),
        Endpoint(
            "/why",
            "The verdict about a symptom: the document of `necroscope why --json`, with titles of mechanisms.",
            (
                Parameter("event", "id of the event, or a kind; without it, the latest symptom"),
                Parameter("at", "or the symptom nearest to this moment, UTC nanoseconds", "integer"),
            ),
            why.Judge().why,
            limit_s=120.0,
        ),
        Endpoint(
            "/zombies",
            "Zombie cgroups up to a moment: owners, names, pins, growth against restarts.",
            (Parameter("at", "the moment, UTC nanoseconds", "integer", required=True),),
            zombies.zombies,
            limit_s=60.0,
        ),
    )


def openapi(every: tuple[Endpoint, ...]) -> dict[str, Any]:
    """The OpenAPI 3.1 document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Necroscope",
            "version": __version__,
            "description": "Read-only questions about one recording. Times are UTC nanoseconds; ids are texts.",
        },
        "servers": [{"url": PREFIX}],
        "paths": {
            **{one.path: {"get": _operation(one)} for one in every},
            "/openapi.json": {"get": {"summary": "This document.", "responses": {"200": {"description": "OpenAPI"}}}},
        },
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def _operation(one: Endpoint) -> dict[str, Any]:
    media = MEDIA_TYPE if one.binary else "application/json"
    wrong = {"content": {"application/json": {"schema": _ERROR}}}
    return {
        "summary": one.summary,
        "operationId": one.path.strip("/"),
        "parameters": [_parameter(parameter) for parameter in one.parameters],
        "responses": {
            "200": {"description": "the answer", "content": {media: {}}},
            "400": {"description": "it asks for nothing that there is", **wrong},
            "401": {"description": "a token is needed, or is wrong", **wrong},
            "503": {"description": "busy, stopped at its limit, or not to be seen here", **wrong},
        },
    }


_ERROR = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {"message": {"type": "string"}, "hint": {"type": "string"}},
            "required": ["message", "hint"],
        }
    },
    "required": ["error"],
}


def _parameter(one: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": one.kind}
    if one.choices:
        schema["enum"] = list(one.choices)
    if one.default:
        schema["default"] = one.default
    return {"name": one.name, "in": "query", "required": one.required, "description": one.help, "schema": schema}
