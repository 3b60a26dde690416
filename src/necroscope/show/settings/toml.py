"""Settings as TOML that `config.load` reads back as the same values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import Field, fields
from textwrap import wrap
from typing import Any

from necroscope.config.reading import sections
from necroscope.config.setting import about
from necroscope.config.settings import Config, SinkSettings

_WIDTH = 100
_EXAMPLE = """\
# The node's own labels, for metrics and verdicts.
# [labels]
# zone = "eu-1a"

# Where verdicts are handed to; one table for each.
# [[sinks]]"""


def in_force(config: Config) -> str:
    """Everything that is set, and the defaults, without explanations."""
    lines = []
    for section in sections():
        lines += [f"[{section}]", *(_line(getattr(config, section), one) for one in _of(getattr(config, section))), ""]
    if config.labels:
        lines += ["[labels]", *(f"{name} = {value(text)}" for name, text in sorted(config.labels.items())), ""]
    for sink in config.sinks:
        lines += ["[[sinks]]", *(_line(sink, one) for one in _of(sink)), ""]
    return "\n".join(lines)


def defaults() -> str:
    """A file that changes nothing: every setting with its default and what it means, commented out."""
    lines = ["# Necroscope's settings. Every one is optional; what stands here is what holds without it.", ""]
    for section, kind in sections().items():
        lines.append(f"[{section}]")
        for one in fields(kind):
            lines += [*_comment(one), f"# {one.name} = {_default(one)}", ""]
    lines += [*_EXAMPLE.splitlines()]
    for one in fields(SinkSettings):
        lines += [*_comment(one), f"# {one.name} = {_default(one)}"]
    return "\n".join([*lines, ""])


def document(config: Config) -> dict[str, Any]:
    """Everything in force, for `--json`."""
    found: dict[str, Any] = {
        section: {one.name: getattr(getattr(config, section), one.name) for one in _of(getattr(config, section))}
        for section in sections()
    }
    sinks = [{one.name: getattr(sink, one.name) for one in _of(sink)} for sink in config.sinks]
    return {"schema": "necroscope.config/1", "settings": found | {"labels": dict(config.labels), "sinks": sinks}}


def value(one: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(one, bool):
        return "true" if one else "false"
    if isinstance(one, str):
        return json.dumps(one, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(one, tuple | list):
        return f"[{', '.join(map(value, one))}]"
    return repr(one)


def _of(section: Any) -> Iterator[Field[Any]]:
    yield from fields(section)


def _line(section: Any, one: Field[Any]) -> str:
    found = getattr(section, one.name)
    if found is None:
        return f"# {one.name} is not set: {about(one).otherwise.replace('`', '')}"
    return f"{one.name} = {value(found)}"


def _comment(one: Field[Any]) -> list[str]:
    said = about(one)
    text = f"{said.meaning}; not set: {said.otherwise}" if said.otherwise else said.meaning
    return [f"# {line}" for line in wrap(text.replace("`", ""), _WIDTH - 2)]


def _default(one: Field[Any]) -> str:
    return "..." if one.default is None else value(one.default)
