"""The child that opens: it may wait for a file as long as it likes, somebody else counts the time.

It acts with the rights of the process whose file it opens, stays below that process's root, and hands descriptors of
regular files to the parser. Nothing is read here.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket

from necroscope.sense.confined import credentials, privileges
from necroscope.sense.confined.credentials import STRANGER, Credentials, acting_as
from necroscope.sense.confined.in_root import Refused, open_regular
from necroscope.sense.confined.messages import MAP, READY, REQUEST_BYTES, Answer, Request, answer_packet, request_of
from necroscope.sense.confined.refusal import Refusal

REQUESTS_FD, PARSER_FD = 3, 4
_HEAP_BYTES = 16 << 20
_FILES = 32
_DELETED = " (deleted)"
_DEBUG_FOLDER = "/usr/lib/debug/.build-id"
_BUILD_ID = re.compile(r"[0-9a-f]{6,64}")


def main(parent: int) -> None:
    """Serve until the recorder closes its end."""
    privileges.prepare("necro-opener", parent)
    if os.geteuid() == 0:
        privileges.keep_capabilities({privileges.CAP_SYS_PTRACE, privileges.CAP_SETUID, privileges.CAP_SETGID})
    privileges.limit(_HEAP_BYTES, _FILES)
    requests, parser = socket.socket(fileno=REQUESTS_FD), socket.socket(fileno=PARSER_FD)
    requests.send(READY)
    while data := requests.recv(REQUEST_BYTES):
        serve(request_of(data), data, requests, parser)


def serve(request: Request, data: bytes, requests: socket.socket, parser: socket.socket) -> None:
    """Open what one request asks for, and say how that went."""
    reason = None
    found: list[int] = []
    try:
        found = open_for(request)
    except Refused as error:
        reason = error.reason
    except OSError:
        reason = Refusal.GONE
    if reason is None:
        try:
            socket.send_fds(parser, [data], found)
        except OSError:
            reason = Refusal.PARSER_DIED
    requests.send(answer_packet(Answer(request.id, reason)))
    for fd in found:  # last: to close a file may take as long as to open it
        with contextlib.suppress(OSError):
            os.close(fd)


def open_for(request: Request) -> list[int]:
    """The file, and the one with its debug symbols where there is one."""
    if request.kind == MAP:
        return [_map_of(request.pid)]
    return [_object(request), *_debug(request.build_id)]


# -- what a process maps ---------------------------------------------------------------------------------


def _object(request: Request) -> int:
    """By the process's root; by ours when the process is gone, if anybody may read it there."""
    path = request.path.removesuffix(_DELETED)
    try:
        found = _of_process(request.pid, path)
        certain = bool(request.build_id) or path == request.path
    except Refused as error:
        if error.reason is not Refusal.GONE:
            raise
        found, certain = _for_anybody(path), bool(request.build_id)
    if not certain and os.fstat(found).st_ino != request.inode:
        os.close(found)
        raise Refused(Refusal.OTHER_BUILD)
    return found


def _for_anybody(path: str) -> int:
    """By our own root. What strangers may not have there tells nothing about the process, which is gone."""
    try:
        return _below("/", path, STRANGER)
    except Refused as error:
        raise Refused(Refusal.GONE) from error


def _of_process(pid: int, path: str) -> int:
    return _below(f"/proc/{pid}/root", path, credentials.of_process(pid))


def _below(root: str, path: str, whom: Credentials) -> int:
    """A file below a root, opened with somebody's rights."""
    try:
        place = os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise Refused(Refusal.GONE) from error
    try:
        with acting_as(whom):
            return open_regular(place, path)
    finally:
        os.close(place)


def _debug(build_id: str) -> list[int]:
    """What the distribution's debug packages keep for this build, readable for everybody."""
    if not _BUILD_ID.fullmatch(build_id):
        return []
    try:
        return [_below("/", f"{_DEBUG_FOLDER}/{build_id[:2]}/{build_id[2:]}.debug", STRANGER)]
    except Refused:
        return []


# -- what a process says of its own code -----------------------------------------------------------------


def _map_of(pid: int) -> int:
    """`/tmp/perf-PID.map`, written by the process's own user or by root, as perf wants it."""
    whom = credentials.of_process(pid)
    if not whom.single_user:
        raise Refused(Refusal.OWNER)
    found = _below(f"/proc/{pid}/root", f"/tmp/perf-{whom.own_pid}.map", whom)
    seen = os.fstat(found)
    if seen.st_uid not in (whom.uid, 0):
        os.close(found)
        raise Refused(Refusal.OWNER)
    return found
