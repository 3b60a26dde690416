"""What `why` writes into files beside its answer: the case that the verdict rests on, and the page of it."""

from __future__ import annotations

import shlex
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from necroscope.errors import BadInput

if TYPE_CHECKING:
    from necroscope.diagnose.hypotheses import Catalogue
    from necroscope.explain.unreported import Answer
    from necroscope.store.read.reader import Store
    from necroscope.vocabulary.event import Window
    from necroscope.vocabulary.verdict import Verdict

_BEFORE_S, _AFTER_S, _LEAD_S, _LONGEST_S = 240, 60, 10, 600


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """Where the case and the page are written, if at all, and whether under neutral names."""

    case: Path | None
    page: Path | None
    redact: bool
    force: bool

    def check(self, of_one_recording: bool) -> None:
        """That there is one answer to keep, and room for it."""
        paths = {"--save-case": self.case, "--html": self.page}
        given = {option: path for option, path in paths.items() if path is not None}
        if not given and (self.redact or self.force):
            raise BadInput("--redact and --force belong to --save-case and --html.", "add one of them, with a FILE")
        if given and not of_one_recording:
            option = next(iter(given))
            raise BadInput(f"{option} keeps the answer about one symptom of a recording.", "leave out --all and --case")
        for path in given.values():
            if path.exists() and not self.force:
                raise BadInput(f"{path} exists.", "name another file, or add --force")

    def save(self, store: Store, found: Answer, known: Catalogue) -> None:
        """Write what is asked for."""
        if self.case is not None:
            self._save_case(found)
        if self.page is not None:
            self.page.write_bytes(self._page(self.page, store, found, known))

    def tell(self) -> None:
        """Say on stderr what was written, and how to read it."""
        from necroscope.quantity import size
        from necroscope.show.plain import plain

        names = "are replaced" if self.redact else "are as recorded (--redact replaces them)"
        for path, how in ((self.case, "read it with: necroscope why --case {}"), (self.page, "open {} in a browser")):
            if path is not None:
                name = plain(str(path))
                click.echo(f"{name}: {size(path.stat().st_size)}, names {names}", err=True)
                click.echo(how.format(shlex.quote(name)), err=True)

    def _save_case(self, found: Answer) -> None:
        from necroscope.store.redact.case import redacted
        from necroscope.vocabulary import case_file

        if found.case is None or self.case is None:
            raise BadInput("There is no symptom, and so no case to save.", "name a moment with --at")
        case_file.save(redacted(found.case) if self.redact else found.case, self.case)

    def _page(self, path: Path, store: Store, found: Answer, known: Catalogue) -> bytes:
        """The page over an excerpt of the recording, with the verdict that all of the recording gave."""
        from necroscope.diagnose.judge import judge
        from necroscope.query.sealed import again
        from necroscope.sense.host import Host
        from necroscope.sense.inventory import identify
        from necroscope.serve.one_file import one_file
        from necroscope.serve.opened import Opened, Source
        from necroscope.store.bundle.excerpt import excerpt
        from necroscope.store.bundle.recording import packed_on
        from necroscope.store.redact.case import redacted
        from necroscope.store.redact.neutral_shapes import ShapedNames
        from necroscope.store.redact.rows import Redactor

        verdict, window = found.verdict, _window(store, found.verdict)
        host, kernel = packed_on(store.folder)
        if not host:
            here = identify(Host())
            host, kernel = here.name, here.kernel
        names = ShapedNames()
        if self.redact:
            host = names.token("host", host)
            verdict = verdict if found.case is None else judge(redacted(found.case, names), known)
        change = Redactor(names) if self.redact else lambda tables: tables
        with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
            cut = again(lambda: excerpt(store, window, Path(folder) / "store", change))
            opened = Opened(Source(cut.folder, path.name, (host, kernel)))
            return one_file(opened, verdict, dict(known.titles))


def _window(store: Store, verdict: Verdict) -> Window:
    """Five minutes around a symptom, and what the verdict is about; without one, the last five minutes."""
    from necroscope.clock import NS
    from necroscope.query.extent import extent_of_all

    whole = extent_of_all(store.snapshot())
    if whole is None:
        raise BadInput("The store is empty.", "record first (`necroscope record`), or give another --store")
    at_ns = verdict.symptom.at_ns if verdict.symptom is not None else whole[1]
    low, high = at_ns - _BEFORE_S * NS, at_ns + _AFTER_S * NS
    if verdict.window is not None:
        low = max(min(low, verdict.window[0] - _LEAD_S * NS), high - _LONGEST_S * NS + NS)
    return max(whole[0], low), min(whole[1], high)
