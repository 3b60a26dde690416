"""`--against FILE`: a window compared with a recording from elsewhere, which leaves nothing behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stage.program import Program

START_S = 1_767_323_045


def script(path: Path, share: float, event: str = "cpu-clock:ppp", hz: int = 97, pid: int = 4711) -> Path:
    """Ten seconds of one core: `walk` in so large a share of the samples, `work` in the others."""
    lines = []
    for number in range(10 * hz):
        name = "walk" if (number % 100) < 100 * share else "work"
        at_s = START_S + number / hz
        lines.append(
            f"agent {pid}/{pid} [001] {at_s:.6f}: {1_000_000_000 // hz} {event}: \n"
            f"\t    7f00000012ab {name}+0xb (/usr/bin/agent)\n\t    7f00000012ac main+0xb (/usr/bin/agent)\n\n"
        )
    path.write_text("".join(lines))
    return path


@pytest.fixture
def sick(necroscope: Program, tmp_path: Path) -> Path:
    """A store in which `walk` took 90 % of a core."""
    done = necroscope("import", script(tmp_path / "sick.txt", 0.9), "--store", tmp_path / "sick")
    assert done.code == 0
    return tmp_path / "sick"


def rows(necroscope: Program, *arguments: object) -> dict[str, dict[str, object]]:
    done = necroscope("top", "--by", "self", "--json", *arguments)
    assert done.code == 0, done.err
    return {row["name"]: row for row in json.loads(done.out)["rows"]}


@pytest.mark.parametrize(("hz", "event"), [(97, "cpu-clock:ppp"), (49, "cpu-clock:ppp"), (197, "task-clock")])
def test_what_grew_since_another_recording(
    necroscope: Program, sick: Path, tmp_path: Path, hz: int, event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often the other was sampled, and whatever its processes are numbered."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    well = script(tmp_path / "well.txt", 0.1, event, hz, pid=5)
    found = rows(necroscope, "--store", sick, "--against", well)
    assert found["walk"]["cores"] == pytest.approx(0.9, abs=0.02)
    assert found["walk"]["before"] == pytest.approx(0.1, abs=0.02)
    assert found["walk"]["significant"]
    assert found["work"]["cores"] == pytest.approx(0.1, abs=0.02)
    assert found["work"]["before"] == pytest.approx(0.9, abs=0.02)
    (process,) = json.loads(necroscope("top", "--json", "--store", sick, "--against", well).out)["rows"]
    assert (process["name"], process["new"], process["significant"]) == ("agent", False, False)
    assert list(scratch.iterdir()) == []


def test_the_same_is_no_change(necroscope: Program, sick: Path, tmp_path: Path) -> None:
    same = script(tmp_path / "same.txt", 0.9, hz=49)
    found = rows(necroscope, "--store", sick, "--against", same)
    assert not any(row["significant"] for row in found.values())


def test_against_a_store_a_bundle_and_folded_stacks(necroscope: Program, sick: Path, tmp_path: Path) -> None:
    well = script(tmp_path / "well.txt", 0.1)
    assert necroscope("import", well, "--store", tmp_path / "well").code == 0
    bundle = tmp_path / "well.bundle"
    assert necroscope("bundle", bundle, "--store", tmp_path / "well", "--from", "2026-01-02T03:04:00Z").code == 0
    for other in (tmp_path / "well", bundle):
        assert rows(necroscope, "--store", sick, "--against", other)["walk"]["before"] == pytest.approx(0.1, abs=0.02)
    (tmp_path / "well.folded").write_text("agent;main;walk 10\nagent;main;work 90\n")
    found = rows(necroscope, "--store", sick, "--against", tmp_path / "well.folded")
    assert found["walk"]["cores"] == pytest.approx(0.9, abs=0.02), "shares of all"
    assert found["walk"]["before"] == pytest.approx(0.1, abs=0.02)


def test_a_flame_graph_against_a_file(necroscope: Program, sick: Path, tmp_path: Path) -> None:
    well = script(tmp_path / "well.txt", 0.1)
    done = necroscope("flame", "--store", sick, "--diff", "--against", well, "--no-color")
    assert done.code == 0
    assert "+walk" in done.out
    document = json.loads(necroscope("flame", "--store", sick, "--against", well, "--json").out)
    assert document["against"] == str(well)
    changes = {box["name"]: box["before"] for box in document["boxes"]}
    assert changes["walk"] == pytest.approx(0.1, abs=0.02)


def test_what_cannot_be_compared_is_one_sentence(necroscope: Program, sick: Path, tmp_path: Path) -> None:
    faults = script(tmp_path / "faults.txt", 0.5, "page-faults")
    log = tmp_path / "dmesg"
    log.write_text("2026-01-02T03:04:05,000000+00:00 watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [a:4711]\n")
    for other, words in (
        (faults, "faults.txt cannot be compared: it has no samples"),
        (log, "dmesg holds no samples to compare with"),
        (tmp_path / "none", "neither usual nor none, nor a file"),
    ):
        refused = necroscope("top", "--store", sick, "--against", other)
        assert (refused.code, refused.out) == (2, "")
        assert words in refused.err
    refused = necroscope("top", "--store", sick, "--against", faults, "--process", "4711")
    assert "is another process" in refused.err


def test_a_flame_graph_against_folded_stacks_finds_the_same_functions(
    necroscope: Program, sick: Path, tmp_path: Path
) -> None:
    """Folded stacks have no modules, and the thread's name is their outermost frame."""
    (tmp_path / "well.folded").write_text("agent;main;walk 97\nagent;main;work 873\n")
    done = necroscope("flame", "--store", sick, "--against", tmp_path / "well.folded", "--json")
    boxes = {(box["depth"], box["name"]): box for box in json.loads(done.out)["boxes"]}
    assert sorted(boxes) == [(0, "all"), (1, "agent"), (2, "main"), (3, "walk"), (3, "work")]
    assert boxes[3, "walk"]["cores"] == pytest.approx(0.9, abs=0.02)
    assert boxes[3, "walk"]["before"] == pytest.approx(0.1, abs=0.02)
