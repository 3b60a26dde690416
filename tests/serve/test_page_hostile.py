"""Names that anybody on the node may have chosen, on every view: they are shown as names, and do nothing."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from serve.browser import chromium, needs_chromium, tab
from stage.hostile import fill
from stage.served import Served, serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
NAMES = (
    *("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\"onfocus=alert(1) autofocus='", "${alert(1)}"),
    *("javascript:alert(1)", "{{constructor}}", "</table><iframe src=//evil.example>", "]]><script>", "&lt;b&gt;"),
    *("\x1b[31mred\x07", "\u202e\u200bevil", "\u2066x\u2069", "a\nb\r\tc", "\udcff\udced", "x" * 4096, "/" * 4000),
    *("\u0301" * 500, "[kernel]", "../../etc/passwd", "   ", "n\u00e9\u4e16\U0001f600"),
)
_OBEYED = ("Cc", "Cf", "Cs", "Zl", "Zp")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("hostile") / "store"
    fill(folder, NAMES)
    with serving(folder) as served:
        yield served


def test_answers_are_valid_json_with_names_as_they_are(hostile: Served) -> None:
    told = hostile.get("recording").document
    window = {"from_": told["from_ns"], "to": told["to_ns"] + 3_000_000_000}
    head, _ = hostile.get("flame", **window).columns
    assert "<script>alert(1)</script>" in head["names"]
    assert max(map(len, head["names"])) <= 1000
    for rows in ("core", "process", "thread", "cgroup"):
        assert hostile.get("moment", **window, columns=50, rows=rows).status == 200
    assert hostile.get("flags", **window).document["flags"]
    assert hostile.get("zombies", at=told["to_ns"]).document["below"]
    assert hostile.get("why").status == 200


@needs_chromium
def test_on_every_view_they_are_nothing_but_names(hostile: Served) -> None:
    with chromium() as browser, tab(browser) as eyes:
        page = eyes.page
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        eyes.open(f"{hostile.url}#v=1&tables=1")
        for key in "1234":
            page.keyboard.press(key)
            eyes.settled()
            _nothing_but_names(page)
        page.keyboard.press("2")
        for rows in ("process", "cgroup"):
            page.select_option("#h-moment ~ .bar select", rows)
            eyes.settled()
            _nothing_but_names(page)
        page.fill("#search", "<script>")
        eyes.settled()
        assert "%" in page.locator("#match").inner_text()
        page.locator("#flame").focus()
        for _ in range(4):
            page.keyboard.press("ArrowDown")
        _nothing_but_names(page)
        assert eyes.complaints == []
        assert [one for one in requests if not one.startswith((hostile.url, "blob:"))] == []


def _nothing_but_names(page: Any) -> None:
    """No element of theirs, and no character that a reader would not see."""
    assert page.locator("script").count() == 1
    assert page.locator("iframe, img, [onerror], [onfocus], table iframe").count() == 0
    seen = page.evaluate("() => document.body.innerText")
    hidden = {char for char in seen if unicodedata.category(char) in _OBEYED and char not in "\n\t"}
    assert hidden == set()


def test_the_stage_is_hostile(hostile: Served) -> None:
    assert isinstance(hostile.opened.source.store, Path)
    assert hostile.get("recording").document["from_ns"] is not None
