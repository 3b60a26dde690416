"""Why a place has no name although it may have one: the words for events and signals."""

from __future__ import annotations

from enum import StrEnum


class Refusal(StrEnum):
    """One reason each; the value is a label of `perf_unresolved_frames`."""

    PENDING = "pending"
    GONE = "gone"
    DENIED = "denied"
    LINK = "link"
    NOT_REGULAR = "not_regular_file"
    OWNER = "owner_mismatch"
    FUSE = "fuse"
    OTHER_BUILD = "other_build"
    BROKEN = "unreadable"
    LIMIT = "parser_limit"
    OPENER_TIMEOUT = "opener_timed_out"
    OPENER_DIED = "opener_died"
    PARSER_TIMEOUT = "parser_timed_out"
    PARSER_DIED = "parser_died"
    BACK_OFF = "back_off"
    BUDGET = "budget"
    QUEUE = "queue_full"
    NO_CHILD = "no_child"


SENTENCES: dict[Refusal, str] = {
    Refusal.PENDING: "not looked up yet",
    Refusal.GONE: "the process or the file is gone",
    Refusal.DENIED: "the process itself may not read the file",
    Refusal.LINK: "the path leads over a link",
    Refusal.NOT_REGULAR: "not a regular file",
    Refusal.OWNER: "the file belongs to another user than the process",
    Refusal.FUSE: "the file is on a FUSE file system",
    Refusal.OTHER_BUILD: "the file is another build than the mapped one",
    Refusal.BROKEN: "the file could not be understood",
    Refusal.LIMIT: "the file is larger than the parser may take",
    Refusal.OPENER_TIMEOUT: "the opener timed out",
    Refusal.OPENER_DIED: "the opener died",
    Refusal.PARSER_TIMEOUT: "the parser timed out",
    Refusal.PARSER_DIED: "the parser died",
    Refusal.BACK_OFF: "files of this user are left alone for a while",
    Refusal.BUDGET: "this user's share of time or bytes is spent",
    Refusal.QUEUE: "too many requests wait",
    Refusal.NO_CHILD: "the opener or the parser could not be started",
}

FAULTS = frozenset({Refusal.OPENER_TIMEOUT, Refusal.OPENER_DIED, Refusal.PARSER_TIMEOUT, Refusal.PARSER_DIED})
"""What costs a child: whoever causes it is left alone for a while."""

ODD = FAULTS | {
    Refusal.LINK, Refusal.NOT_REGULAR, Refusal.OWNER, Refusal.FUSE, Refusal.LIMIT, Refusal.BUDGET, Refusal.BACK_OFF,
    Refusal.QUEUE, Refusal.NO_CHILD,
}  # fmt: skip
"""What no healthy program causes, or what costs names: recorded as an event."""

PASSING = FAULTS | {Refusal.PENDING, Refusal.BACK_OFF, Refusal.BUDGET, Refusal.QUEUE, Refusal.NO_CHILD}
"""What may be otherwise later: asked again."""
