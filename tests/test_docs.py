"""Documentation is complete: every verb, option, finding, symptom, signal and JSON field is written down."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import click
import pytest

from necroscope.cli.main import VERBS, main
from necroscope.cli.shared.times import RULE, Instant
from necroscope.diagnose.engine import rules
from necroscope.sense.log.symptoms import catalogue
from necroscope.vocabulary.event_sentence import OWN_KINDS
from stage.program import Program

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def _page(name: str) -> str:
    return (ROOT / "docs" / name).read_text("utf-8")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_is_in_the_readme_and_has_help_with_examples(verb: str) -> None:
    assert f"necroscope {verb}" in README
    command = main.get_command(click.Context(main), verb)
    assert command is not None
    assert "Example" in (command.help or "")
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name


def _examples(command: click.Command, path: str) -> Iterator[str]:
    """The commands of a help's examples, of those below a group too, without what stands beside them."""
    for line in (command.help or "").partition("Example")[2].splitlines():
        if found := re.match(r" +(?:sudo )?necroscope (.*?)(?: {2,}.*)?$", line):
            yield found[1]
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from _examples(below, f"{path} {name}")


@pytest.mark.parametrize("verb", VERBS)
def test_the_examples_of_every_help_can_be_typed(verb: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Options and values are taken as they stand, where the files that they name are there."""
    monkeypatch.chdir(tmp_path)
    command = main.get_command(click.Context(main), verb)
    assert command is not None
    examples = list(_examples(command, verb))
    assert examples
    for example in examples:
        words = list(takewhile(lambda word: word not in ("|", ">"), shlex.split(example)))
        for word in words:
            if re.fullmatch(r"[a-z0-9-]+\.[a-z.]+", word):
                (tmp_path / word).touch()
        taken = main
        while isinstance(taken, click.Group):
            name, found, words = taken.resolve_command(click.Context(taken), words)
            assert found is not None, example
            taken = found
        assert taken.make_context(name, words) is not None, example


def test_every_schema_is_documented_under_a_heading_of_its_own_and_no_other() -> None:
    """Whatever the program writes that names a schema; a heading may name several."""
    schema = re.compile(r"necroscope\.[a-z.-]+/\d+")
    sources = (ROOT / "src").rglob("*.py")
    written = {found for file in sources for found in schema.findall(file.read_text("utf-8"))}
    written |= {f"necroscope.{name}/{version}" for name in ("why", "why-all") for version in (1, 2)}
    headings = re.findall(r"^## (.*)$", _page("json.md"), re.MULTILINE)
    assert {found for heading in headings for found in schema.findall(heading)} == written
    assert len(written) >= 20


def test_every_kind_of_event_of_the_recorder_is_documented() -> None:
    page = _page("recording.md")
    assert {kind for kind in OWN_KINDS if f"`{kind}`" not in page} == set()
    listed = re.findall(r"^\| ((?:`[a-z-]+`(?:, )?)+) \|", page.partition("## Events of the recorder")[2], re.MULTILINE)
    assert {kind for row in listed for kind in re.findall(r"`([a-z-]+)`", row)} <= OWN_KINDS


def test_the_manual_page_is_up_to_date() -> None:
    made = subprocess.run([sys.executable, ROOT / "tools/man-page"], capture_output=True, text=True, check=True)
    assert _page("necroscope.1") == made.stdout


def test_the_manual_page_has_every_verb_and_option() -> None:
    page = _page("necroscope.1").replace("\\-", "-")
    for verb in VERBS:
        assert f".SS necroscope {verb} " in page
        command = main.get_command(click.Context(main), verb)
        assert command is not None
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                assert parameter.opts[0] in page, (verb, parameter.name)


@pytest.mark.skipif(not shutil.which("man"), reason="needs man (Debian: man-db)")
def test_the_manual_page_can_be_read() -> None:
    command = ["man", "--warnings", "-l", str(ROOT / "docs" / "necroscope.1")]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "MANWIDTH": "80"})
    assert shown.stderr == ""
    assert "necroscope why --event nic-reset             the latest of this kind" in shown.stdout


@pytest.mark.parametrize("verb", VERBS)
def test_verbs_that_take_a_time_say_how_it_is_read(verb: str) -> None:
    command = main.get_command(click.Context(main), verb)
    assert command is not None
    takes_one = any(isinstance(one.type, Instant) for one in command.params)
    assert (RULE in (command.epilog or "")) == takes_one


def test_every_finding_is_documented() -> None:
    pages = _page("findings.md") + _page("symptoms.md")
    for rule in rules(catalogue().kinds):
        for finding in rule.finds:
            assert f"`{finding}`" in pages, finding


def test_no_finding_is_documented_that_does_not_exist() -> None:
    ids = {finding for rule in rules(catalogue().kinds) for finding in rule.finds}
    listed = set(re.findall(r"^\| `([a-z-]+)` \|", _page("findings.md"), re.MULTILINE))
    assert listed == ids - set(catalogue().kinds)


def test_the_page_of_signals_is_up_to_date() -> None:
    made = subprocess.run([sys.executable, ROOT / "tools/signals-page"], capture_output=True, text=True, check=True)
    assert _page("signals.md") == made.stdout


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda p: p.name
)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_every_defect_has_a_command_that_still_selects_a_test() -> None:
    """Each row of the public table names `make TARGET`, a benchmark, or tests that are there under that name."""
    rows = [line for line in _page("reliability.md").splitlines() if re.match(r"\| (?!defect)\w", line)]
    assert len(rows) > 25
    for row in rows:
        *_, commands, version = row.strip("| ").split(" | ")
        assert version
        for command in re.findall(r"`([^`]+)`", commands):
            words = shlex.split(command)
            if words[0] == "make":
                assert f"\n{words[1]}:" in (ROOT / "Makefile").read_text("utf-8"), row
            elif words[0] == "pytest":
                _selects(words[1:], row)
            else:
                assert words[:3] == ["python", "-m", "bench"], row
                assert (ROOT / "bench" / f"{words[3]}.py").exists(), row


def _selects(words: list[str], row: str) -> None:
    """Words of `-k` are looked for in the text of the tests: names, and the ids of their cases."""
    named = [ROOT / word for word in words[: words.index("-k")]] if "-k" in words else [ROOT / word for word in words]
    files = [file for path in named for file in (path.rglob("test_*.py") if path.is_dir() else [path])]
    assert files, row
    text = "".join(file.read_text("utf-8") for file in files)
    wanted = words[words.index("-k") + 1].split(" or ") if "-k" in words else []
    assert [word for word in wanted if word not in text] == [], row


@pytest.mark.parametrize("page", ["add-a-sensor.md", "add-a-rule.md"])
def test_the_code_of_the_recipes_runs(page: str) -> None:
    (source,) = re.findall(r'```python\n(""".*?)```', _page(page), re.DOTALL)
    module: dict[str, object] = {"__name__": "recipe"}
    exec(compile(source, page, "exec"), module)
    if page == "add-a-sensor.md":
        from necroscope.sense.host import Host

        reading = module["Loadavg"]().read(Host())  # type: ignore[operator]
        assert reading.samples[0].value >= 0
        assert module["parse_loadavg"](b"0.52 0.58 0.59 1/467 12345\n") == 0.52  # type: ignore[operator]
    else:
        from necroscope.diagnose.fact import KernelMemory
        from necroscope.diagnose.rule import rule

        recipe = rule(module["kernel_memory"], "kernel-memory")  # type: ignore[arg-type]
        assert [finding.id for finding in recipe.ask({KernelMemory: KernelMemory(9 << 30, 0)})] == ["kernel-memory"]
        assert recipe.ask({KernelMemory: KernelMemory(1 << 30, 0)}) == ()


def test_the_readme_shows_what_why_prints(necroscope: Program) -> None:
    """Line by line and in order; it is shortened."""
    found = re.search(r"\$ necroscope why --bundle (\S+)\n(.*?)```", README, re.DOTALL)
    assert found is not None
    printed = iter(necroscope("why", "--bundle", ROOT / found[1], columns=92).out.splitlines())
    said = (line.rstrip() for line in printed)
    for line in found[2].splitlines():
        if line.strip() not in ("", "..."):
            assert line in said, line
