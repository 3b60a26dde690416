"""`necroscope why` as users see it, on a recorded incident."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from necroscope.store.read.catalog import segments
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import Event
from stage.incident import Played, at
from stage.incidents import INCIDENTS, unpacked
from stage.program import Program
from stage.recorded import NS, START_NS, Sample

BUNDLE = INCIDENTS / "seeds-incident.ncb"
TRUTH: dict[str, Any] = json.loads(BUNDLE.with_suffix(".json").read_text("utf-8"))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpacked(BUNDLE, tmp_path_factory.mktemp("incident"))


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four cores at 10 % for two minutes."""
    folder = tmp_path_factory.mktemp("quiet")
    writer = Writer(folder, flush_s=1e9, segment_s=1e9)
    for number in range(120):
        times = [(str(cpu), mode, share * number) for cpu in range(4) for mode, share in (("user", 0.1), ("idle", 0.9))]
        samples = [Sample("cpu_time_seconds", round(value, 3), (cpu, mode)) for cpu, mode, value in times]
        writer.add_signals(START_NS + number * NS, samples, "cpu")
    writer.add_events([Event(START_NS + 60 * NS, "unit-start", "systemd", "a.service", "started")])
    writer.close()
    return folder


def test_the_document_of_a_bundle(necroscope: Program) -> None:
    ran = necroscope("why", "--bundle", BUNDLE, "--json")
    assert ran.code == 1
    document = ran.document
    assert document["schema"] == "necroscope.why/2"
    assert document["verdict"] == "explained"
    cause = document["cause"]
    assert (cause["kind"], cause["cpu"], cause["subject"]) == (TRUTH["cause"], TRUTH["cpu"], TRUTH["subject"])
    assert cause["process"]["name"] == TRUTH["process"]["name"]
    assert 0.5 < cause["confidence"] <= 1
    strengths = {one["kind"]: one["strength"] for one in document["links"]}
    for kind in ("symptom", "starved-core", "on-core", "mechanism", "accumulation", "leak-source"):
        assert kind in strengths
    assert document["weakest"]["strength"] == min(one for one in strengths.values() if one is not None)
    tested = {one["hypothesis"]: one["outcome"] for one in document["tested"]}
    assert [tested[one] for one in ("page-faults", "interrupt-affinity", "steal")] == ["ruled-out"] * 3
    assert document["candidates"][0]["kind"] == cause["kind"]
    assert any(remedy["command"] for remedy in document["remedies"])


def test_the_document_of_the_release_before(necroscope: Program) -> None:
    ran = necroscope("why", "--bundle", BUNDLE, "--json", "--schema", "1")
    assert (ran.code, ran.document["schema"], ran.document["cause"]["subject"]) == (
        1,
        "necroscope.why/1",
        TRUTH["subject"],
    )
    kinds = [one["kind"] for one in ran.document["chain"]]
    for kind in ("symptom", "starved-core", "walker", "mechanism", "grew", "leak-source"):
        assert kind in kinds
    rejected = {one["hypothesis"] for one in ran.document["rejected"] if one["tested"]}
    assert {"page-faults", "interrupt-affinity", "steal"} <= rejected
    every = necroscope("why", "--bundle", BUNDLE, "--json", "--schema", "1", "--all").document
    assert every["schema"] == "necroscope.why-all/1"
    assert "chain" in every["groups"][0]


@pytest.mark.parametrize("columns", [80, 200])
def test_the_story(necroscope: Program, store: Path, columns: int) -> None:
    ran = necroscope("why", "--store", store, columns=columns)
    assert (ran.code, ran.err) == (1, "")
    lines = ran.out.splitlines()
    assert max(map(len, lines)) <= columns
    assert lines[:2] == ["ROOT CAUSE FOUND  zombie-memcg", f"  Root cause: unit {TRUTH['subject']['name']}"]
    assert any("█" in line and line.strip().startswith(f"core {TRUTH['cpu']}") for line in lines)
    assert "What to do now" in lines
    assert "Ruled out" in lines


def test_one_screen(necroscope: Program, store: Path) -> None:
    ran = necroscope("why", "--store", store, "--brief", columns=80)
    assert (ran.code, ran.err) == (1, "")
    lines = ran.out.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert lines[:2] == ["ROOT CAUSE FOUND  zombie-memcg", f"  Root cause: unit {TRUTH['subject']['name']}"]
    assert any("necroscope fix disable-unit" in line and TRUTH["subject"]["name"] in line for line in lines)


def test_a_case_is_saved_and_judged_again_elsewhere(necroscope: Program, store: Path, tmp_path: Path) -> None:
    whole = necroscope("why", "--store", store, "--json", "--save-case", tmp_path / "a.case")
    assert whole.code == 1
    assert "names are as recorded" in whole.err
    again = necroscope("why", "--case", tmp_path / "a.case", "--json")
    assert (again.code, again.err, again.document) == (1, "", whole.document)
    assert "ROOT CAUSE FOUND" in necroscope("why", "--case", tmp_path / "a.case").out
    ran = necroscope("why", "--store", store, "-q", "--save-case", tmp_path / "a.case")
    assert (ran.code, "a.case exists" in ran.err) == (2, True)
    ran = necroscope("why", "--store", store, "-q", "--save-case", tmp_path / "a.case", "--redact", "--force")
    assert (ran.code, ran.err) == (1, "")
    assert TRUTH["subject"]["name"].encode() not in gzip.decompress((tmp_path / "a.case").read_bytes())
    neutral = necroscope("why", "--case", tmp_path / "a.case", "--json").document
    kinds = [(one["kind"], one["strength"]) for one in whole.document["links"]]
    assert [(one["kind"], one["strength"]) for one in neutral["links"]] == kinds
    assert neutral["cause"]["confidence"] == whole.document["cause"]["confidence"]
    assert neutral["cause"]["subject"]["name"].endswith(".service")


def test_no_symptom_is_no_case(necroscope: Program, quiet: Path, tmp_path: Path) -> None:
    ran = necroscope("why", "--store", quiet, "--save-case", tmp_path / "a.case")
    assert (ran.code, ran.out) == (2, "")
    assert "no case to save" in ran.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("data", [b"", b"x", gzip.compress(b"{}"), gzip.compress(b"[" * 100_000)])
def test_a_file_that_is_no_case_is_bad_input(necroscope: Program, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.case").write_bytes(data)
    ran = necroscope("why", "--case", tmp_path / "a.case")
    assert (ran.code, ran.out) == (2, "")
    assert "is not a case" in ran.err
    assert "hint: make it again" in ran.err


def test_every_symptom_by_cause(necroscope: Program, store: Path) -> None:
    ran = necroscope("why", "--store", store, "--all", "--json")
    assert ran.code == 1
    by_subject = {
        json.dumps((one["cause"] or {}).get("subject")): len(one["symptoms"]) for one in ran.document["groups"]
    }
    assert by_subject[json.dumps(TRUTH["subject"])] >= 1
    text = necroscope("why", "--store", store, "--all", columns=80).out
    assert f"Root cause: unit {TRUTH['subject']['name']}  zombie-memcg" in text


def test_an_event_by_kind_and_by_id_and_a_time(necroscope: Program, store: Path) -> None:
    latest = necroscope("why", "--store", store, "--json").document["symptom"]
    for arguments in (("--event", latest["kind"]), ("--event", latest["id"]), ("--at", latest["at"])):
        assert necroscope("why", "--store", store, *arguments, "--json").document["symptom"]["id"] == latest["id"]


def test_nothing_to_explain(necroscope: Program, quiet: Path) -> None:
    ran = necroscope("why", "--store", quiet)
    assert ran.code == 0
    assert ran.out.startswith("NOTHING TO EXPLAIN")
    document = necroscope("why", "--store", quiet, "--json").document
    assert (document["verdict"], document["cause"], document["symptom"]) == ("no-symptom", None, None)
    assert necroscope("why", "--store", quiet, "--all").code == 0


def test_quiet_says_it_by_the_exit_code(necroscope: Program, store: Path) -> None:
    ran = necroscope("why", "--store", store, "-q")
    assert (ran.code, ran.out, ran.err) == (1, "", "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--event", "no-such-event"), "no event"),
        (("--at", "now", "--all"), "exclude each other"),
        (("--at", "yesterday-ish"), "is not a valid time"),
        (("--case", "x", "--all"), "exclude each other"),
        (("--case", "x"), "no recording"),
        (("--save-case", "x", "--all"), "one symptom"),
        (("--redact",), "belong to --save-case"),
        (("--force",), "belong to --save-case"),
        (("--brief", "--json"), "leave out --json"),
        (("--brief", "--all"), "leave out --json and --all"),
        (("--schema", "1"), "add --json"),
        (("--schema", "3", "--json"), "is not one of"),
        (("--mechanisms", "/no/such/folder"), "is no folder"),
    ],
)
def test_bad_usage(necroscope: Program, store: Path, arguments: tuple[str, ...], words: str) -> None:
    ran = necroscope("why", "--store", store, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err


def test_no_store(necroscope: Program, tmp_path: Path) -> None:
    ran = necroscope("why", "--store", tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert "hint" in ran.err


def test_a_mechanism_of_the_users_own_explains_and_a_broken_file_only_warns(
    necroscope: Program, store: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine.toml").write_text(
        '[[mechanisms]]\nid = "our-walk"\ntitle = "our own name for it"\nexpensive = "It is."\nreferences = ["wiki"]\n'
        'functions = ["mem_cgroup_iter"]\npriority = 100\ngrows = "zombies"\n'
    )
    (tmp_path / "worse.toml").write_text('[[mechanisms]]\nid = "worse"\ntitle = 3\n')
    ran = necroscope("why", "--store", store, "--mechanisms", tmp_path, "--json")
    assert f"{tmp_path / 'worse.toml'}, line " in ran.err
    assert "hint" in ran.err
    assert (ran.code, ran.document["cause"]["kind"]) == (1, "our-walk")


def test_a_damaged_recording_is_no_clean_bill_of_health(necroscope: Program, quiet: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    shutil.copytree(quiet, store)
    path = segments(store)[0].file("events")
    path.write_bytes(path.read_bytes()[:-9])
    note = f"{path} is damaged and left out"
    ran = necroscope("why", "--store", store, columns=300)
    assert (ran.code, ran.out.splitlines()[0]) == (3, "INCONCLUSIVE")
    assert "Whether there was a symptom cannot be told" in ran.out
    assert str(path) in ran.out.replace("\n", "")
    ran = necroscope("why", "--store", store, "--json")
    assert (ran.code, ran.document["verdict"], ran.document["symptom"]) == (3, "unexplained", None)
    assert ran.document["notes"] == [note]
    ran = necroscope("why", "--store", store, "--all", "--json")
    assert (ran.code, ran.document["groups"], ran.document["notes"]) == (3, [], [note])
    assert "whether there was one cannot be told" in necroscope("why", "--store", store, "--all", columns=300).out


@pytest.mark.parametrize("table", ["events", "processes", "units", "zombie_names", "zombies"])
def test_damage_of_what_a_verdict_rests_on_is_told(
    necroscope: Program, store: Path, tmp_path: Path, table: str
) -> None:
    hurt = tmp_path / "store"
    shutil.copytree(store, hurt)
    at = necroscope("why", "--store", hurt, "--json").document["symptom"]["at"]
    paths = [path for one in segments(hurt) if (path := one.file(table)).exists()]
    for path in paths:
        path.write_bytes(path.read_bytes()[:-9])
    assert paths
    notes = necroscope("why", "--store", hurt, "--at", at, "--json").document["notes"]
    assert sorted(notes) == sorted(f"{path} is damaged and left out" for path in paths)


@pytest.mark.parametrize("moment", ["now", "2001-01-01T00:00:00Z"])
def test_a_moment_that_was_not_recorded(necroscope: Program, store: Path, moment: str) -> None:
    ran = necroscope("why", "--store", store, "--at", moment, "--json")
    assert (ran.code, ran.document["symptom"], ran.document["tested"]) == (3, None, [])
    assert "the recording holds" in ran.document["missing"][0]["what"]


def test_every_exit_code_is_told(necroscope: Program) -> None:
    told = " ".join(necroscope("why", "--help").out.split())
    assert "3 it cannot be told whether there was one" in told


def test_all_tells_of_a_critical_complaint_that_no_core_causes(necroscope: Program, tmp_path: Path) -> None:
    node = Played(2, 90)
    node.usual()
    node.events.append(Event(at(60), "gpu-xid", "kmsg", "0000:3b:00", "NVRM: Xid: 79, GPU has fallen off the bus."))
    node.write(tmp_path)
    ran = necroscope("why", "--all", "--store", tmp_path)
    assert ran.code == 1, ran.err
    assert "gpu-xid" in ran.out
