"""Everything that can go wrong, with a hint for the person who meets it.

    NecroscopeError            exit 4   a defect of ours, unless a subclass says otherwise
    ├── BadInput               exit 2   the user's words or files cannot be used
    └── Unavailable            exit 3   this environment cannot do it (permission, tool, kernel feature)
        └── Refused            exit 3   it could be done and must not be: it would do harm, or the node has changed

`cli` is the only place that catches the tree: it prints the sentence and the hint, and sets the exit code.
A sensor raises `Unavailable` for what it cannot see; whoever reads sensors records that and goes on.
"""

from __future__ import annotations


class NecroscopeError(Exception):
    """One sentence for the user, and a hint on what to do about it."""

    exit_code = 4

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class BadInput(NecroscopeError):
    """The arguments, a file or a captured host cannot be used as they are."""

    exit_code = 2


class Unavailable(NecroscopeError):
    """Something cannot be seen or done here; absent is not broken, and unknown is not zero."""

    exit_code = 3


class Refused(Unavailable):
    """A change that is not made, because it would do harm or rests on what is no longer so."""


DAMAGE_HINT = "put the file back from a copy of the recording, such as a bundle"
"""What to do about a damaged file that a question needs."""
