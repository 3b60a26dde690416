"""The application: routes of the API and of the page, each question in a thread of its own, within its limits."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from necroscope.errors import BadInput, NecroscopeError, Unavailable
from necroscope.query.stopping import Stopped, stoppable
from necroscope.serve.answers.answer import Answer
from necroscope.serve.asked import Asked
from necroscope.serve.endpoints import PREFIX, Endpoint, endpoints, openapi
from necroscope.serve.guard import App, Guard, Rules
from necroscope.serve.limits import Limits
from necroscope.serve.opened import Opened
from necroscope.serve.static_files import File, files

_AT_ONCE, _WAITING = 4, 24
_LOOK_S = 0.1
_log = logging.getLogger("necroscope.serve")


def application(opened: Opened, rules: Rules) -> App:
    """The whole application, with its guard."""
    every = endpoints()
    desk = _Desk(opened)
    document = openapi(every)
    routes = [
        *(Route(f"{PREFIX}{one.path}", desk.answerer(one), methods=["GET"]) for one in every),
        Route(f"{PREFIX}/openapi.json", _always(document), methods=["GET"]),
        *(Route(f"/{path}", _file(one), methods=["GET"]) for path, one in files().items()),
        Route("/", _file(files()["index.html"]), methods=["GET"]),
        Route("/{rest:path}", _nothing, methods=["GET"]),
    ]
    packing = Middleware(GZipMiddleware, minimum_size=2000, compresslevel=3)
    return Guard(Starlette(routes=routes, middleware=[packing]), rules)


class _Desk:
    """Answers questions, a few at once; more wait, and too many are sent away."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        self._places = CapacityLimiter(_AT_ONCE)
        self._here = 0

    def answerer(self, endpoint: Endpoint) -> Callable[[Request], object]:
        """What answers the requests of an endpoint."""

        async def answer(request: Request) -> Response:
            if self._here >= _WAITING:
                return _wrong(503, "Too many questions at once.", "ask again in a moment")
            self._here += 1
            try:
                return await self._answer(endpoint, request)
            finally:
                self._here -= 1

        return answer

    async def _answer(self, endpoint: Endpoint, request: Request) -> Response:
        try:
            asked = Asked.of(request.query_params.multi_items(), endpoint.parameters)
        except BadInput as error:
            return _wrong(400, error.message, error.hint)
        limits = Limits(endpoint.limit_s)

        def work() -> Answer:
            with stoppable(limits.check):
                limits.check()
                return endpoint.answer(self._opened, asked)

        task = asyncio.ensure_future(to_thread.run_sync(work, limiter=self._places))
        while not (await asyncio.wait({task}, timeout=_LOOK_S))[0]:
            if await request.is_disconnected():
                limits.give_up()
                await asyncio.wait({task})
        return _response(task, endpoint)


def _response(task: asyncio.Future[Answer], endpoint: Endpoint) -> Response:
    try:
        answer = task.result()
    except Stopped as stopped:
        return _wrong(503, f"The question was stopped: {stopped.reason}.", "zoom in, or choose fewer rows")
    except Unavailable as error:
        return _wrong(503, error.message, error.hint)
    except NecroscopeError as error:
        return _wrong(400, error.message, error.hint)
    except Exception:
        _log.exception("a question at %s failed", endpoint.path)
        return _wrong(500, "This is a defect of Necroscope.", "the server printed what went wrong; please report it")
    return Response(answer.body, media_type=answer.media_type, headers={"cache-control": "no-store"})


def _wrong(status: int, message: str, hint: str) -> Response:
    from necroscope.show.plain import plain

    told = {"error": {"message": plain(message), "hint": plain(hint)}}
    return JSONResponse(told, status, headers={"cache-control": "no-store"})


def _always(document: object) -> Callable[[Request], object]:
    async def answer(_: Request) -> Response:
        return JSONResponse(document)

    return answer


def _file(one: File) -> Callable[[Request], object]:
    async def answer(request: Request) -> Response:
        headers = {"etag": one.tag, "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == one.tag:
            return Response(status_code=304, headers=headers)
        return Response(one.data, media_type=one.media_type, headers=headers)

    return answer


async def _nothing(_: Request) -> Response:
    return _wrong(404, "There is nothing here.", f"the page is at /, the API at {PREFIX}/openapi.json")
