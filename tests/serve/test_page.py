"""The page in a real browser, as a person uses it: with the pointer, by keys alone, and on a phone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from serve.browser import Eyes, chromium, needs_axe, needs_chromium, tab
from stage.served import Served

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.timeout(120)]
HELD_MS = 1794868466003, 1794868472002
QUIET_MS = 1794868445000, 1794868450000


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture
def eyes(browser: Any, gpu: Served) -> Iterator[Eyes]:
    with tab(browser) as made:
        made.open(gpu.url)
        yield made
        assert made.complaints == []


def test_a_persons_path_from_the_map_to_the_culprit_and_back(eyes: Eyes, browser: Any) -> None:
    page = eyes.page
    assert page.locator("#host").inner_text() == "host-26e2"
    assert page.locator("#zone").inner_text() == "UTC"
    held = page.evaluate(
        """() => {
          const { map } = necroscope.model.layers.at(-1);
          const row = (at) => map.held.subarray(at * map.columns, (at + 1) * map.columns);
          const sums = map.cpus.map((cpu, at) => [row(at).reduce((a, b) => a + b, 0), cpu]);
          return sums.sort((a, b) => b[0] - a[0])[0][1];
        }"""
    )
    assert held == 9, "the core that is seen to be full"
    eyes.drag(eyes.place(HELD_MS[0], 9), eyes.place(HELD_MS[1] - 1000, 9))
    chosen = eyes.state()["a"]
    assert chosen["cpus"] == [9]
    assert chosen["to"] - chosen["from"] == pytest.approx(5000, abs=150)
    page.select_option("#against", "usual")
    eyes.settled()
    assert "against" in page.locator(".flame-words").inner_text()
    assert "process-719d" in page.locator(".changes").inner_text()
    assert "new" in page.locator(".changes").inner_text()
    page.fill("#search", "mem_cgroup_iter")
    eyes.settled()
    assert float(page.locator("#match").inner_text().split()[0]) > 30
    verdict = page.locator("aside").inner_text()
    assert "Root cause found" in verdict
    assert "process-170c" in verdict
    page.locator('button[data-link="on-core"]').click()
    eyes.settled()
    moved = eyes.state()
    assert (moved["a"]["from"], moved["a"]["to"]) == HELD_MS
    address = page.evaluate("() => location.href")
    with tab(browser) as other:
        other.open(address)
        other.settled()
        assert other.state() == {**moved, "search": "mem_cgroup_iter"}
        assert other.page.locator(".flame-words").inner_text() == page.locator(".flame-words").inner_text()
        assert other.complaints == []
    page.go_back()
    eyes.settled()
    assert eyes.state()["a"] == chosen


def test_a_second_rectangle_is_the_baseline(eyes: Eyes) -> None:
    eyes.drag(eyes.place(HELD_MS[0], 9), eyes.place(HELD_MS[1], 9))
    eyes.drag(eyes.place(QUIET_MS[0], 9), eyes.place(QUIET_MS[1], 9), key="Shift")
    state = eyes.state()
    assert (state["against"], state["b"]["cpus"]) == ("b", [9])
    assert "the second rectangle" in eyes.page.locator(".flame-words").inner_text()
    changed = eyes.page.locator(".changes").inner_text()
    assert re.search(r"\+0\.9\d* cores, new: process-719d", changed)


def test_the_wheel_zooms_to_ten_milliseconds_and_back(eyes: Eyes) -> None:
    page = eyes.page
    page.mouse.move(*eyes.place(HELD_MS[0] + 2000, 9))
    for _ in range(30):
        page.mouse.wheel(0, -400)
    eyes.settled()
    box = eyes.boxes()
    assert box["to"] - box["from"] == pytest.approx(10, abs=0.01)
    for _ in range(30):
        page.mouse.wheel(0, 400)
    eyes.settled()
    assert eyes.state()["from"] is None


def test_the_path_by_keys_alone(eyes: Eyes) -> None:
    page = eyes.page
    page.locator("#timeline").focus()
    page.keyboard.press("g")
    assert "core 9" in page.locator("#spoken").inner_text()
    page.keyboard.press("Enter")
    eyes.settled()
    assert eyes.state()["a"]["cpus"] == [9]
    page.keyboard.press("d")
    eyes.settled()
    assert "process-719d" in page.locator(".changes").inner_text()
    page.locator("#flame").focus()
    told = []
    for _ in range(6):
        page.keyboard.press("ArrowDown")
        page.wait_for_timeout(60)
        told.append(page.locator("#spoken").inner_text())
    assert len(set(told)) > 3
    page.keyboard.press("Enter")
    page.wait_for_timeout(100)
    assert page.locator(".trail button").count() > 1
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    eyes.settled()
    assert eyes.state()["view"] == "moment"
    page.locator("#moment").focus()
    for key in ("ArrowRight", "ArrowDown", "Shift+ArrowRight", "Shift+ArrowRight", "Shift+ArrowDown"):
        page.keyboard.press(key)
    page.keyboard.press("b")
    eyes.settled()
    assert len(eyes.state()["b"]["cpus"]) == 2
    page.keyboard.press("Escape")
    eyes.settled()
    assert eyes.state()["a"] is None
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()
    page.keyboard.press("4")
    page.wait_for_timeout(100)
    page.locator('button[data-link="starved-core"]').focus()
    page.keyboard.press("Enter")
    eyes.settled()
    assert (eyes.state()["view"], eyes.state()["a"]["cpus"]) == ("timeline", [9])


def test_rows_of_a_moment_and_what_is_searched_for(eyes: Eyes) -> None:
    page = eyes.page
    page.locator('button[data-link="on-core"]').click()
    page.keyboard.press("m")
    eyes.settled()
    for rows in ("process", "thread", "cgroup", "core"):
        page.select_option("#h-moment ~ .bar select", rows)
        eyes.settled()
        assert page.evaluate("() => necroscope.model.moment.moment.by") == rows
    page.fill("#search", "mem_cgroup_iter")
    eyes.settled()
    found = page.evaluate(
        """() => {
          const { match, bins } = necroscope.model.moment.moment;
          const row = (at) => match.subarray(at * bins, (at + 1) * bins);
          return [9, 4].map((at) => row(at).reduce((a, b) => a + b, 0));
        }"""
    )
    assert found[0] > 1000
    assert found[1] == 0


@needs_axe
@pytest.mark.parametrize(("theme", "width"), [("light", 1400), ("dark", 390)])
def test_axe_finds_nothing_serious_on_any_view(browser: Any, gpu: Served, theme: str, width: int) -> None:
    with tab(browser, theme, width, 844) as eyes:
        eyes.open(f"{gpu.url}#v=1&tables=1")
        for key in "1234":
            eyes.page.keyboard.press(key)
            eyes.settled()
            assert eyes.wrong() == [], key
        eyes.page.keyboard.press("4")
        eyes.page.locator('button[data-link="on-core"]').click()
        eyes.settled()
        assert eyes.wrong() == []
        eyes.page.keyboard.press("?")
        assert eyes.wrong() == []


def test_nothing_is_wider_than_a_phone(browser: Any, gpu: Served) -> None:
    with tab(browser, width=390, height=844, has_touch=True, is_mobile=True) as eyes:
        eyes.open(f"{gpu.url}#v=1&tables=1")
        for key in "1234":
            eyes.page.keyboard.press(key)
            eyes.settled()
            wide = eyes.page.evaluate("() => document.documentElement.scrollWidth")
            assert wide <= 390, key
            assert eyes.page.locator("#host").is_visible()
            assert eyes.page.locator("#zone").is_visible()


def test_pictures_are_saved_as_they_are_seen(eyes: Eyes) -> None:
    page = eyes.page
    with page.expect_download() as got:
        page.get_by_role("button", name="PNG").click()
    assert got.value.suggested_filename == "necroscope-host-26e2-timeline.png"
    assert got.value.path().read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    with page.expect_download() as got:
        page.get_by_role("button", name="SVG").click()
    drawn = got.value.path().read_text("utf-8")
    assert "host-26e2" in drawn
    assert "UTC" in drawn
    assert "Zombie cgroups" in drawn
    assert "data:image/png;base64," in drawn
    assert "<script" not in drawn
    from xml.etree import ElementTree

    assert ElementTree.fromstring(drawn).tag.endswith("svg")


def test_local_time_and_utc(browser: Any, gpu: Served) -> None:
    with tab(browser, timezone_id="Asia/Kolkata") as eyes:
        eyes.open(gpu.url)
        assert "22:34:01" in eyes.page.locator("#when").inner_text()
        eyes.page.keyboard.press("z")
        eyes.page.wait_for_timeout(100)
        assert eyes.page.locator("#zone").inner_text() == "UTC+05:30"
        assert "2026-11-17 04:04:01" in eyes.page.locator("#when").inner_text()
