"""`necroscope bundle` of a recording, and every verb that reads one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from necroscope.clock import NS
from stage.everything import SECONDS, fill
from stage.incidents import INCIDENTS
from stage.program import Program
from stage.recorded import START_NS

pytestmark = pytest.mark.slow

FROM, TO = "2026-01-02T03:04:07Z", "2026-01-02T03:04:11Z"
VERBS: tuple[tuple[str, ...], ...] = (
    ("events", "--json"),
    ("sql", "select count(*) from samples", "--json"),
    ("top", "--json", "--against", "none"),
    ("flame", "--json"),
    ("heatmap", "--json"),
    ("export", "--format", "folded", "-o", "-", "-q"),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("store")
    writer = fill(folder)
    yield folder
    writer.close()


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("capture") / "now.ncb"
    assert Program()("bundle", "--now", file, "-q").code == 0
    return file


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where bundles are unpacked; it must be empty afterwards."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


@pytest.mark.parametrize("verb", [*VERBS, ("why",)], ids=lambda verb: verb[0])
def test_a_bundle_given_as_a_store_is_told(necroscope: Program, verb: tuple[str, ...]) -> None:
    bundle = INCIDENTS / "seeds-incident.ncb"
    ran = necroscope(*verb, "--store", bundle)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"necroscope: {bundle} is a bundle, no store.\n  hint: read it with `--bundle {bundle}`\n"


def test_every_verb_answers_as_from_the_store(
    necroscope: Program, store: Path, tmp_path: Path, temporary: Path
) -> None:
    bundle = tmp_path / "window.ncb"
    made = necroscope("bundle", bundle, "--store", store, "--from", FROM, "--to", TO, "--json")
    assert (made.code, made.err) == (0, "")
    assert made.document["window"] == ["2026-01-02T03:04:07.000Z", "2026-01-02T03:04:11.000Z"]
    assert made.document["bytes"] == bundle.stat().st_size < 100_000
    assert made.document["rows"]["events"] == 4 * 6
    for verb in VERBS:
        bounds = ("--since", "--until") if verb[0] == "events" else ("--from", "--to")
        window = (bounds[0], FROM, bounds[1], TO)
        ours = necroscope(*verb, "--bundle", bundle, *window)
        theirs = necroscope(*verb, "--store", store, *window)
        assert (ours.code, ours.err) == (1 if verb[0] == "events" else 0, ""), verb
        assert ours.out == theirs.out, verb
        assert len(ours.out) > 20
    assert list(temporary.iterdir()) == []
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_without_a_window_it_is_the_last_ten_minutes_and_says_so(
    necroscope: Program, store: Path, tmp_path: Path
) -> None:
    ran = necroscope("bundle", tmp_path / "x.ncb", "--store", store)
    size, window, contents, hint = ran.out.splitlines()
    assert size.startswith(f"{tmp_path}/x.ncb: ")
    assert window == "2026-01-02T03:04:05.000Z to 2026-01-02T03:04:13.983Z (9.0 s), the last of the recording"
    assert contents.startswith(f"{61 * SECONDS} samples, {6 * SECONDS} events; names are as recorded")
    assert hint == f"read it with: necroscope events --bundle {tmp_path}/x.ncb"
    assert necroscope("bundle", tmp_path / "y.ncb", "--store", store, "-q").out == ""


def test_around_an_event_or_a_time(necroscope: Program, store: Path, tmp_path: Path) -> None:
    near = necroscope(
        "bundle", tmp_path / "a", "--store", store, "--event", "nic-reset", "--before", "2s", "--after", "0", "--json"
    ).document
    assert near["window"] == ["2026-01-02T03:04:11.000Z", "2026-01-02T03:04:13.000Z"]
    wide = necroscope("bundle", tmp_path / "b", "--store", store, "--at", FROM, "--json").document
    assert wide["window"] == ["2026-01-02T02:59:07.000Z", "2026-01-02T03:05:07.000Z"]
    until = necroscope("bundle", tmp_path / "c", "--store", store, "--to", FROM, "--json").document
    assert until["window"] == ["2026-01-02T03:04:05.000Z", "2026-01-02T03:04:07.000Z"]


def test_a_window_without_samples_can_be_taken(necroscope: Program, tmp_path: Path) -> None:
    from necroscope.store.write.writer import Writer
    from necroscope.vocabulary.event import Event

    writer = Writer(tmp_path / "store")
    writer.add_events([Event(START_NS, "nic-reset", "kmsg", "eth0", "reset")])
    writer.close()
    assert necroscope("bundle", tmp_path / "x", "--store", tmp_path / "store").code == 0
    assert len(necroscope("events", "--bundle", tmp_path / "x", "--json").document["events"]) == 1
    ran = necroscope("flame", "--bundle", tmp_path / "x")
    assert (ran.code, ran.out) == (2, "")


def test_redacted_and_cut_again(necroscope: Program, store: Path, tmp_path: Path) -> None:
    whole, bare = tmp_path / "whole.ncb", tmp_path / "bare.ncb"
    necroscope("bundle", whole, "--store", store, "-q")
    ran = necroscope("bundle", bare, "--bundle", whole, "--from", FROM, "--to", TO, "--redact")
    assert "names are replaced" in ran.out
    with tarfile.open(bare) as tar:
        manifest = json.loads(tar.extractfile("necroscope/manifest.json").read())  # type: ignore[union-attr]
    assert manifest["redacted"]
    shown = "".join(necroscope(*verb, "--bundle", bare).out for verb in VERBS)
    shown += necroscope("sql", "--bundle", bare, "select distinct labels, name from signals", "--json").out
    shown += necroscope("sql", "--bundle", bare, "select * from units", "--json").out
    assert "acme" in necroscope("events", "--bundle", whole).out
    assert "acme" not in shown
    assert "mem_cgroup_iter" in shown
    assert "nic-reset" in shown


def test_the_wrong_sort_of_bundle_is_a_sentence(
    necroscope: Program, store: Path, capture: Path, tmp_path: Path, temporary: Path
) -> None:
    for verb in VERBS:
        ran = necroscope(*verb, "--bundle", capture)
        assert (ran.code, ran.out) == (2, ""), verb
        assert "holds one instant of a host, no recording" in ran.err
        assert f"necroscope scan --bundle {capture}" in ran.err
    window = tmp_path / "window.ncb"
    necroscope("bundle", window, "--store", store, "-q")
    ran = necroscope("scan", "--bundle", window)
    assert (ran.code, ran.out) == (2, "")
    assert "holds a window of a recording" in ran.err
    assert "necroscope events --bundle" in ran.err
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb[0])
def test_what_is_no_bundle_is_a_sentence(necroscope: Program, verb: tuple[str, ...], tmp_path: Path) -> None:
    broken = tmp_path / "broken.ncb"
    broken.write_bytes(b"\x1f\x8b" + b"\xff" * 200)
    ran = necroscope(*verb, "--bundle", broken)
    assert (ran.code, ran.out) == (2, "")
    assert "no bundle, or is damaged" in ran.err
    assert "does not exist" in necroscope(*verb, "--bundle", tmp_path / "absent").err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--now", "--redact"), "--now takes this instant"),
        (("--now", "--from", "-5m"), "--now takes this instant"),
        (("--with-arguments",), "--with-arguments needs --now"),
        (("--from", TO, "--to", FROM), "ends before it begins"),
        (("--from", "2020-01-01T00:00:00Z", "--to", "2020-01-02T00:00:00Z"), "The recording has nothing of"),
        (("--before", "5s"), "need an instant"),
        (("--event", "absent"), "no event absent"),
        (("--bundle", "/absent"), "exclude each other"),
    ],
)
def test_what_cannot_be_packed(
    necroscope: Program, store: Path, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    ran = necroscope("bundle", tmp_path / "x.ncb", *arguments, *(() if "--now" in arguments else ("--store", store)))
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_written(necroscope: Program, store: Path, tmp_path: Path) -> None:
    ran = necroscope("bundle", tmp_path / "absent/x.ncb", "--store", store)
    assert ran.code == 2
    assert "cannot be written" in ran.err
    (tmp_path / "x.ncb").write_text("precious")
    assert necroscope("bundle", tmp_path / "x.ncb", "--store", store).code == 2
    assert (tmp_path / "x.ncb").read_text() == "precious"
    assert necroscope("bundle", tmp_path / "x.ncb", "--store", store, "--force", "-q").code == 0


def test_ctrl_c_leaves_nothing_behind(store: Path, tmp_path: Path, temporary: Path) -> None:
    Program()("bundle", tmp_path / "x.ncb", "--store", store, "-q")
    slow = "select sum(sqrt(range)) from range(1000000000000)"
    command = [str(Path(sys.executable).parent / "necroscope"), "sql", "--bundle", str(tmp_path / "x.ncb"), slow]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ))
    try:
        deadline = time.monotonic() + 20
        while not list(temporary.glob("*/necroscope/store/segments/*")) and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.7)
        child.send_signal(signal.SIGINT)
        assert child.wait(30) == 130
    finally:
        child.kill()
        child.wait()
    assert list(temporary.iterdir()) == []


def test_a_minute_of_two_cores_is_small(necroscope: Program, tmp_path: Path) -> None:
    """With stacks as various as those of a busy machine: thousands that were never seen before."""
    import random

    from necroscope.store.write.writer import Writer
    from stage.looked import One, batch, look

    pick = random.Random(1)
    functions = [(f"function_number_{one}", f"library{one % 40}.so") for one in range(3000)]
    writer = Writer(tmp_path / "store", flush_s=1e9, segment_s=1e9)
    for second in range(60):
        at_ns = START_NS + second * NS
        writer.add_signals(at_ns, look(second), "cpu")
        stacks = [tuple(pick.choices(functions, k=pick.randint(5, 30))) for _ in range(40)]
        writer.add_samples(
            batch([One(at_ns + n * 5_154_639, pick.choice(stacks), n % 2, pid=100 + n % 50) for n in range(194)])
        )
    writer.close()
    made = necroscope("bundle", tmp_path / "x.ncb", "--store", tmp_path / "store", "--json").document
    assert made["rows"]["samples"] == 60 * 194
    assert made["bytes"] < 2_000_000
