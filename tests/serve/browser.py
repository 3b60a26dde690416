"""A real Chromium for the page, with what a person has: a pointer, keys and eyes. Skips where there is none."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
needs_chromium = pytest.mark.skipif(not CHROMIUM, reason="needs Chromium (Debian: chromium)")
needs_axe = pytest.mark.skipif(not AXE.is_file(), reason="needs axe-core (npm ci)")


class Eyes:
    """A tab; everything that it complained of is kept."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", self._alarmed)

    def _heard(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _alarmed(self, dialog: Any) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def open(self, url: str) -> None:
        """Open an address and wait for the map of cores and the verdict."""
        self.page.goto(url)
        self.settled()
        self.page.wait_for_function("() => necroscope.model.verdict !== null", timeout=30_000)

    def settled(self) -> None:
        """Wait until nothing is asked and everything is painted."""
        self.page.wait_for_function(
            "() => window.necroscope && necroscope.model.layers.length && !necroscope.model.busy.size", timeout=30_000
        )
        self.page.wait_for_timeout(250)
        self.page.wait_for_function("() => !necroscope.model.busy.size", timeout=30_000)

    def boxes(self) -> dict[str, Any]:
        """Where the parts of the timeline lie on the screen."""
        self.page.locator("#timeline").scroll_into_view_if_needed()
        found: dict[str, Any] = self.page.evaluate(
            """() => {
              const { map, small, time, tracks } = necroscope.timeline.boxes(necroscope.timeline.picture.width);
              const at = document.getElementById("timeline").getBoundingClientRect();
              const { cpus, range } = necroscope.model;
              const { left, top } = at;
              return { map, small, time, tracks: tracks.length, left, top, cpus: cpus.length, ...range };
            }"""
        )
        return found

    def place(self, at_ms: float, cpu: int) -> tuple[float, float]:
        """Where a moment of a core is on the screen."""
        box = self.boxes()
        x = box["left"] + box["map"]["x"] + (at_ms - box["from"]) / (box["to"] - box["from"]) * box["map"]["width"]
        return x, box["top"] + box["map"]["y"] + (cpu + 0.5) * box["map"]["height"] / box["cpus"]

    def drag(self, start: tuple[float, float], end: tuple[float, float], key: str = "") -> None:
        """Drag from one place to another."""
        mouse, keyboard = self.page.mouse, self.page.keyboard
        if key:
            keyboard.down(key)
        mouse.move(*start)
        mouse.down()
        mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
        mouse.move(*end)
        mouse.up()
        if key:
            keyboard.up(key)
        self.settled()

    def state(self) -> dict[str, Any]:
        """What is looked at."""
        found: dict[str, Any] = self.page.evaluate("() => necroscope.model.state")
        return found

    def wrong(self) -> list[str]:
        """What axe finds that is serious."""
        self.page.evaluate(AXE.read_text("utf-8"))
        found = self.page.evaluate(
            """async () => {
              const told = (node) => `${node.html.slice(0, 120)} ${node.any.map((why) => why.message)}`;
              return (await axe.run(document, { resultTypes: ["violations"] })).violations
                .filter((one) => ["serious", "critical"].includes(one.impact))
                .map((one) => `${one.id}: ${one.nodes.map(told).join(" | ")}`);
            }"""
        )
        return [json.dumps(one) for one in found]


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def tab(browser: Any, theme: str = "light", width: int = 1400, height: int = 900, **more: Any) -> Iterator[Eyes]:
    """A tab of its own, without anything remembered."""
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=theme, accept_downloads=True, **more
    )
    try:
        yield Eyes(context.new_page())
    finally:
        context.close()
