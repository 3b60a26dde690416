"""The page in one file: it opens from disk, asks nobody, keeps to its policy, and redacted it names nobody."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from necroscope.serve import inlined
from necroscope.serve.static_files import File
from serve.browser import Eyes, chromium, needs_chromium, tab
from stage.incidents import INCIDENTS
from stage.program import Program

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
BUNDLE = INCIDENTS / "gpu-training.ncb"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("html") / "incident <b>.html"
    got = Program()("why", "--brief", "--bundle", BUNDLE, "--html", file)
    assert got.code == 1
    assert "in a browser" in got.err
    return file


@pytest.fixture(scope="module")
def redacted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("html") / "redacted.html"
    assert Program()("why", "-q", "--bundle", BUNDLE, "--html", file, "--redact").code == 1
    return file


def _answers(file: Path) -> list[tuple[dict[str, Any], bytes]]:
    found = re.search(r'<script type="application/json" id="kept">(.*?)</script>', file.read_text("utf-8"), re.DOTALL)
    assert found is not None
    return [(one, gzip.decompress(base64.b64decode(one["body"]))) for one in json.loads(found[1])["answers"]]


def test_it_is_small_and_has_the_verdict_of_the_whole_recording(made: Path) -> None:
    assert made.stat().st_size < 1 << 20
    told = {one["path"]: body for one, body in _answers(made) if one["path"] in ("why", "recording")}
    assert json.loads(told["why"])["cause"]["kind"] == "zombie-memcg"
    assert json.loads(told["recording"])["host"]["name"] == "host-26e2"


def test_its_policy_names_the_only_script_and_style(made: Path) -> None:
    text = made.read_text("utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert "default-src &#x27;none&#x27;" in policy[1]
    assert len(re.findall(r"sha256-", policy[1])) == 2
    assert "unsafe" not in policy[1]
    assert len(re.findall(r"<script(?! type=\"application/json\")", text)) == 1
    around = re.sub(r"(?s)<(script|style)\b.*?</\1>", "", text)
    assert not re.search(r"""(?:src|href)=["'](?!data:)""", around)


@needs_chromium
def test_a_person_opens_it_from_disk(made: Path) -> None:
    with chromium() as browser, tab(browser) as eyes:
        requests: list[str] = []
        eyes.page.on("request", lambda request: requests.append(request.url))
        eyes.open(made.as_uri())
        assert eyes.page.locator("#host").inner_text() == "host-26e2"
        assert "Root cause found" in eyes.page.locator("aside").inner_text()
        eyes.page.locator('button[data-link="on-core"]').click()
        eyes.settled()
        assert "process-719d" in eyes.page.locator(".changes").inner_text()
        eyes.page.select_option("#against", "none")
        eyes.settled()
        assert eyes.page.locator(".legend .kind-kernel").count() == 1
        for look in ("system", "idle", "busy"):
            eyes.page.select_option("#h-timeline ~ .bar select", look)
            eyes.settled()
        eyes.page.keyboard.press("m")
        eyes.settled()
        assert eyes.page.evaluate("() => necroscope.model.moment.moment.bin") <= 20
        eyes.page.keyboard.press("3")
        eyes.settled()
        assert "14,496" in eyes.page.locator(".figures").inner_text()
        _another_moment(eyes)
        assert eyes.complaints == []
        assert [one for one in requests if not one.startswith(("file:", "data:", "blob:"))] == []


def _another_moment(eyes: Eyes) -> None:
    """What is not in the file is said, with what to do about it."""
    eyes.page.keyboard.press("1")
    eyes.page.keyboard.press("Escape")
    eyes.page.keyboard.press("0")
    eyes.settled()
    eyes.drag(eyes.place(1794868450000, 3), eyes.place(1794868455000, 4))
    assert "necroscope serve" in eyes.page.locator(".problem").inner_text()


def test_redacted_it_has_none_of_the_names(made: Path, redacted: Path) -> None:
    names = {"host-26e2", "process-719d", "process-170c", "process-13b1", "cgroup-47f3", "cgroup-e9c4"}
    plain = b"".join(body for _, body in _answers(made)).decode("utf-8", "replace")
    assert all(name in plain for name in names), "the test must be able to fail"
    hidden = b"".join(body for _, body in _answers(redacted)).decode("utf-8", "replace") + redacted.read_text("utf-8")
    assert {name for name in names if name in hidden} == set()
    why = json.loads(next(body for one, body in _answers(redacted) if one["path"] == "why"))
    assert why["cause"]["kind"] == "zombie-memcg"
    process = why["cause"]["process"]["name"]
    flames = [body for one, body in _answers(redacted) if one["path"] == "flame"]
    assert any(process.encode() in body for body in flames), "the verdict and the pictures use the same names"


def test_options_that_do_not_suit(necroscope: Program, made: Path) -> None:
    assert necroscope("why", "--bundle", BUNDLE, "--html", made).code == 2, "it is there"
    assert necroscope("why", "--bundle", BUNDLE, "--all", "--html", made.with_name("x.html")).code == 2
    assert necroscope("why", "--bundle", BUNDLE, "--redact").code == 2


def test_modules_that_need_each_other_in_a_circle_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {
        "main.js": 'import { a } from "./a.js";\n',
        "a.js": 'import { b } from "./main.js";\nexport const a = 1;\n',
    }
    monkeypatch.setattr(inlined, "files", lambda: {name: File(text.encode(), "", "") for name, text in texts.items()})
    with pytest.raises(ValueError, match="needs itself"):
        inlined.script()


@pytest.mark.parametrize("text", ['import x from "./a.js";', "export default 1;", 'export * from "./a.js";'])
def test_what_is_not_understood_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(inlined, "files", lambda: {"main.js": File(text.encode(), "", ""), "a.js": File(b"", "", "")})
    with pytest.raises(ValueError, match="not understood"):
        inlined.script()
