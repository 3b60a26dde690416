"""The formats of `necroscope export`: one line each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from necroscope.show.export.source import Source


@dataclass(frozen=True, slots=True)
class Format:
    """A format: who writes it, as `module:function`, and whether it is text."""

    name: str
    writer: str
    text: bool = False

    def write(self, source: Source, file: BinaryIO) -> None:
        """Write the samples of a source."""
        module, _, function = self.writer.partition(":")
        write: Callable[[Source, BinaryIO], None] = getattr(import_module(f"necroscope.show.export.{module}"), function)
        write(source, file)


FORMATS = {
    one.name: one
    for one in (
        Format("folded", "folded:write", text=True),
        Format("speedscope", "speedscope:write", text=True),
        Format("pprof", "pprof:write"),
        Format("otlp", "otlp:write"),
        Format("otlp-json", "otlp:write_json", text=True),
        Format("parquet", "parquet:write"),
    )
}
