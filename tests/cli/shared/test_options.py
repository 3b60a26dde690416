"""Colours, bold and dim go together: all of them on a terminal, none where somebody wants none."""

from __future__ import annotations

import pytest
from rich.text import Text

from necroscope.cli.shared.options import console


def _printed(monkeypatch: pytest.MonkeyPatch, no_color: bool, **environment: str) -> str:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"TERM": "xterm-256color", "TTY_COMPATIBLE": "1", "FORCE_COLOR": "1", **environment}.items():
        monkeypatch.setenv(name, value)
    out = console(no_color)
    with out.capture() as captured:
        out.print(Text("sick", style="bold red"))
    return captured.get()


def test_on_a_terminal_there_are_colours_and_bold(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _printed(monkeypatch, no_color=False).startswith("\x1b[1;31msick")
    assert _printed(monkeypatch, no_color=False, NO_COLOR="").startswith("\x1b[1;31msick")


@pytest.mark.parametrize(("no_color", "environment"), [(True, {}), (False, {"NO_COLOR": "1"})])
def test_without_colours_there_is_no_bold_either(
    monkeypatch: pytest.MonkeyPatch, no_color: bool, environment: dict[str, str]
) -> None:
    assert _printed(monkeypatch, no_color, **environment) == "sick\n"
