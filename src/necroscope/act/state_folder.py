"""Where `fix` keeps what it knows: saved plans, journals, and the lock that only one may have.

    STATE/lock                 one at a time; the kernel takes it away when its owner dies
    STATE/plans/ID.json        a plan that was shown, for fifteen minutes
    STATE/journal/ID.jsonl     a plan that was begun, for good

It lies beside the recording, not in it: retention does not delete it, and what was changed on this node is known
whatever is recorded.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from necroscope import clock
from necroscope.act.journal import Written, read_journal
from necroscope.errors import BadInput, Refused, Unavailable
from necroscope.sense.environment import home, users
from necroscope.sense.ownership import weak_part
from necroscope.store.private_files import FILE_MODE, make_folder, open_new
from necroscope.store.regular_file import read_regular
from necroscope.vocabulary.plan import Plan
from necroscope.vocabulary.typed_json import Mismatch, form_of

STATE = "NECROSCOPE_FIX_STATE"
SYSTEM = Path("/var/lib/necroscope-fix")
ID = re.compile(r"fix-[0-9a-f]{8}")
VALID_S = 900
_PLAN_BYTES_MOST = 64 << 20
_FORM = form_of(Plan)


def place(given: Path | None) -> Path:
    """The given folder, else that of the environment, else the system's for root and one's own for everybody else."""
    if given is not None:
        return given
    if named := os.environ.get(STATE):
        return Path(named)
    if os.geteuid() == 0:
        return SYSTEM
    state = users("XDG_STATE_HOME") or str(Path(home() or "/") / ".local" / "state")
    return Path(state) / "necroscope-fix"


class StateFolder:
    """One folder of that kind; made when something is written."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else acts meanwhile. `Refused` where somebody does."""
        self._make()
        try:
            fd = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, FILE_MODE)
        except OSError as error:
            raise Unavailable(f"{self.path} cannot be written: {error.strerror}", "run as root") from error
        try:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                who = os.pread(fd, 32, 0).decode("ascii", "replace").strip() or "unknown"
                raise Refused(f"Another fix is at work here (process {who}).", "wait for it to end") from error
            os.ftruncate(fd, 0)
            os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
            yield
        finally:
            os.close(fd)

    # -- plans -------------------------------------------------------------------------------------------

    def save(self, plan: Plan) -> None:
        """Keep a plan that was shown, and forget those that hold no more."""
        self._make()
        for old in (self.path / "plans").glob("*.json"):
            with contextlib.suppress(OSError):
                if clock.now().realtime_ns / clock.NS - old.stat().st_mtime > VALID_S:
                    old.unlink()
        with os.fdopen(open_new(self.path / "plans" / f"{plan.id}.json"), "w") as file:
            json.dump(_FORM.write(plan), file)

    def plan(self, name: str) -> Plan:
        """A plan that was shown. `BadInput` for one that is not there."""
        try:
            found: Plan = _FORM.read(json.loads(read_regular(self.path / "plans" / f"{name}.json", _PLAN_BYTES_MOST)))
        except FileNotFoundError as error:
            hint = f"plans are kept for {VALID_S // 60} minutes; ask for it again"
            raise BadInput(f"There is no plan {name}.", hint) from error
        except (OSError, ValueError, Mismatch, RecursionError) as error:
            raise Refused(f"The plan {name} cannot be read: nothing is done.", "ask for it again") from error
        return found

    # -- journals ----------------------------------------------------------------------------------------

    def journal(self, name: str) -> Path:
        """The path of a plan's journal, whether it is there or not."""
        if not ID.fullmatch(name):
            raise BadInput(f"{name} is no id of a plan.", "`necroscope fix --history` lists them")
        return self.path / "journal" / f"{name}.jsonl"

    def begun(self) -> list[tuple[str, Written]]:
        """Every plan that was begun, the oldest first; what was killed before it had written its plan was not."""
        folder = self.path / "journal"
        names = [path.stem for path in folder.glob("fix-*.jsonl")] if folder.is_dir() else []
        read = [(name, read_journal(self.journal(name))) for name in names]
        return sorted((one for one in read if one[1].records), key=lambda one: one[1].records[0].at_ns)

    def _make(self) -> None:
        try:
            make_folder(self.path)
            for name in ("plans", "journal"):
                make_folder(self.path / name)
            weak = weak_part(self.path)
        except OSError as error:
            raise Unavailable(
                f"{self.path} cannot be made: {error.strerror}", "run as root, or give --state DIR"
            ) from error
        if weak:
            raise NotOurs(f"{self.path} is not used: {weak} may be changed by others than root", "give --state DIR")


class NotOurs(Refused):
    """A folder that somebody else could change holds nothing that may be trusted."""
