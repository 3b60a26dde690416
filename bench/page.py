"""The page over half a day of a 96-core node (402 M samples), in a real Chromium without a GPU.

NECROSCOPE_BENCH_STORE names a folder for the store, which is made when it is not there and kept; without it, it is
temporary (4 GB, ten minutes). Needs Chromium (`apt-get install chromium`) and Playwright for Python.

Frames are those of the browser's own clock while the wheel zooms and a drag moves; selections go from the release of
the pointer to the painted flame graph. Memory is what the processes have of their own (USS), at its highest look.
"""

from __future__ import annotations

import gzip
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from bench.big_store import large_store
from necroscope.serve.static_files import files

SELECTIONS = 20
LENGTH_MS = 5000
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
FRAMES = """() => { window.frames_ = []; let last = performance.now();
  const next = (now) => { frames_.push(now - last); last = now; window.counting = requestAnimationFrame(next); };
  window.counting = requestAnimationFrame(next); }"""
ALL_READ = """() => { const { model } = window.necroscope ?? {};
  return model?.layers.some(({ map }) => map.from <= model.whole.from && map.to >= model.whole.to && %s); }"""


def main() -> None:
    """Serve the store, drive the page, print the table."""
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("there is no chromium: apt-get install chromium")
    with tempfile.TemporaryDirectory() as scratch:
        store = large_store(Path(scratch), float(os.environ.get("NECROSCOPE_BENCH_HOURS", "12")))
        rows = [("page, gzipped", f"{_page_kib():.0f} KiB")]
        rows += _driven(store, chromium)
    print("| what | seen |\n|---|---|")
    for what, seen in rows:
        print(f"| {what} | {seen} |")


def _page_kib() -> float:
    return sum(len(gzip.compress(file.data)) for name, file in files().items() if not name.endswith(".txt")) / 1024


def _driven(store: Path, chromium: str) -> list[tuple[str, str]]:
    from playwright.sync_api import sync_playwright

    rows: list[tuple[str, str]] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        for wait_s, words in ((0.0, "at once"), (5.0, "5 s later")):
            with _Server(store) as server:
                time.sleep(wait_s)
                page = browser.new_page(viewport={"width": 1500, "height": 1000})
                first, whole = _opened(page, server.url)
                what = f"opened {words} after the server began: map painted, all of it"
                rows.append((what, f"{first:.2f} s, {whole:.2f} s"))
                if wait_s:
                    rows += _looked_at(page, server)
                page.close()
        browser.close()
    return rows


def _looked_at(page: Any, server: _Server) -> list[tuple[str, str]]:
    frames = [*_frames(page, _zoom), *_frames(page, _pan)]
    chosen = [_selection(page, place) for place in range(SELECTIONS)]
    flame = page.evaluate("() => { const { picture } = necroscope.flame; picture.now(); return picture.times.at(-1); }")
    boxes = page.evaluate("() => necroscope.model.flame.graph.name.length")
    renderer = page.evaluate("() => performance.memory.usedJSHeapSize") / 1e6
    five = server.most_mb()
    long = _whole_selection(page)
    return [
        ("frame while zooming and moving: median, p95", f"{statistics.median(frames):.0f} ms, {_p95(frames):.0f} ms"),
        (
            f"selection of 5 s -> flame graph: median, p95 of {SELECTIONS}",
            f"{statistics.median(chosen):.0f} ms, {_p95(chosen):.0f} ms",
        ),
        (f"flame graph of {boxes:,} boxes drawn", f"{flame:.0f} ms"),
        ("selection of everything -> flame graph", f"{long:.1f} s"),
        ("heap of the page", f"{renderer:.0f} MB"),
        ("server, before and after the selection of everything", f"{five:.0f} MB, {server.most_mb():.0f} MB"),
    ]


def _opened(page: Any, url: str) -> tuple[float, float]:
    """Seconds until some of the map is painted, and until all of it is."""
    began = time.perf_counter()
    page.goto(url)
    page.wait_for_function(ALL_READ % "true", polling=20, timeout=120_000)
    first = time.perf_counter() - began
    page.wait_for_function(ALL_READ % "!map.notRead.length", polling=20, timeout=120_000)
    return first, time.perf_counter() - began


def _frames(page: Any, act: Callable[[Any], None]) -> list[float]:
    page.evaluate(FRAMES)
    act(page)
    found: list[float] = page.evaluate("() => { cancelAnimationFrame(counting); return frames_.slice(2); }")
    return found


def _zoom(page: Any) -> None:
    page.mouse.move(700, 400)
    for step in range(60):
        page.mouse.wheel(0, -90 if step < 40 else 90)
        page.wait_for_timeout(16)


def _pan(page: Any) -> None:
    for step in range(60):
        page.mouse.wheel(40 if step < 30 else -40, 0)
        page.wait_for_timeout(16)


def _selection(page: Any, place: int) -> float:
    """Milliseconds from a choice of five seconds of all cores to its painted flame graph."""
    found: float = page.evaluate(
        """async ([place, of, length]) => {
          const { model } = necroscope;
          const at = model.whole.from + (model.whole.to - model.whole.from) * (place + 0.5) / of;
          const before = model.flame?.key;
          const began = performance.now();
          model.choose({ from: at, to: at + length, cpus: [], pids: [], tids: [], cgroups: [] }, false);
          while (!model.flame || model.flame.key === before) await new Promise((done) => setTimeout(done, 4));
          await new Promise(requestAnimationFrame);
          await new Promise(requestAnimationFrame);
          return performance.now() - began;
        }""",
        [place, SELECTIONS, LENGTH_MS],
    )
    return found


def _whole_selection(page: Any) -> float:
    began = time.perf_counter()
    page.evaluate(
        """() => { const { model } = necroscope;
                   model.choose({ ...model.whole, cpus: [], pids: [], tids: [], cgroups: [] }, false); }"""
    )
    done = """() => { const { flame, errors } = necroscope.model;
                      return errors.flame || (flame && flame.choice.to - flame.choice.from > 3600000); }"""
    page.wait_for_function(done, timeout=120_000)
    return time.perf_counter() - began


def _p95(values: Sequence[float]) -> float:
    return sorted(values)[max(0, round(0.95 * len(values)) - 1)]


class _Server:
    """`necroscope serve`, as users start it."""

    def __init__(self, store: Path) -> None:
        command = [sys.executable, "-m", "necroscope", "serve", "-q", "--store", str(store), "--listen", "127.0.0.1:0"]
        self._running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._running.stdout is not None
        self.url = self._running.stdout.readline().strip()

    def most_mb(self) -> float:
        """Memory of its own, in millions of bytes."""
        with suppress(OSError):
            text = Path(f"/proc/{self._running.pid}/smaps_rollup").read_text()
            own = [int(line.split()[1]) for line in text.splitlines() if line.startswith("Private_")]
            return sum(own) * 1024 / 1e6
        return 0.0

    def __enter__(self) -> _Server:
        return self

    def __exit__(self, *_: object) -> None:
        self._running.terminate()
        self._running.wait(20)
