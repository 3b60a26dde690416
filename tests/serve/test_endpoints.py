"""The API over a recorded incident: what it says, and that its document says what there is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from necroscope.clock import NS
from necroscope.serve.endpoints import PREFIX, endpoints, openapi
from stage.served import Served

FROM, TO = 1794868441843677941, 1794868482877759481
HELD = 1794868466003000000, 1794868472002000000
QUIET = 1794868445000000000, 1794868450000000000
WINDOW = {"from_": FROM, "to": TO}


def test_the_recording_says_which_host_and_when(gpu: Served) -> None:
    told = gpu.get("recording").document
    assert told["schema"] == "necroscope.recording/1"
    assert (told["from_ns"], told["to_ns"], told["live"]) == (FROM, TO, False)
    assert told["host"]["name"] == "host-26e2"
    assert told["cpus"] == list(range(16))


def test_the_map_shows_the_full_core_and_no_other(gpu: Served) -> None:
    head, arrays = gpu.get("cores", **WINDOW, columns=100).columns
    assert (head["column_ns"], head["cpus"], head["not_read"]) == (NS, list(range(16)), [])
    second = (HELD[0] // NS - head["from_ns"] // NS) + 1
    assert (arrays["held"][9, second : second + 5] == 1).all()
    assert not arrays["held"][[0, 1, 2, 4, 5, 15], second : second + 5].any()
    assert arrays["mean"][9, 0] == head["unknown"], "nobody looked before the first look"


def test_pooled_to_few_columns_the_full_stretch_is_still_there(gpu: Served) -> None:
    head, arrays = gpu.get("cores", **WINDOW, columns=2).columns
    assert head["columns"] <= 3
    assert arrays["held"][9].max() == 5
    assert arrays["mean"][9].max() < 240, "by the mean alone it is not full"


def test_other_looks_are_shares_of_the_same_time(gpu: Served) -> None:
    shown = {
        look: gpu.get("cores", **WINDOW, columns=100, look=look).columns[1]["mean"].astype(int)
        for look in ("busy", "idle", "system", "user")
    }
    known = shown["busy"] != 255
    assert np.abs(shown["busy"][known] + shown["idle"][known] - 250).max() <= 1
    assert (shown["system"][known] <= shown["busy"][known] + 1).all()


def test_tracks_tell_zombies_pressure_and_the_idle_gpu(gpu: Served) -> None:
    head, arrays = gpu.get("tracks", **WINDOW, columns=100).columns
    lines = {(one["track"], one["name"]): row for row, one in enumerate(head["lines"])}
    zombies = arrays["mean"][lines["zombies", "zombies"]]
    assert np.nanmin(zombies) == 14337
    assert np.nanmax(zombies) == 14496
    held = slice((HELD[0] - head["from_ns"]) // NS + 1, (HELD[1] - head["from_ns"]) // NS - 1)
    assert np.nanmax(arrays["mean"][lines["gpu", "mean"]][held]) == 0.0
    assert np.nanmin(arrays["mean"][lines["pressure", "memory"]][held]) > 50
    assert {one["id"] for one in head["tracks"] if not one["recorded"]} >= {"run-delay", "restarts"}


def test_flags_are_symptoms_and_marks(gpu: Served) -> None:
    flags = gpu.get("flags", **WINDOW).document["flags"]
    symptoms = [one for one in flags if one["role"] == "symptom" and one["source"] == "kmsg"]
    assert [one["kind"] for one in symptoms] == ["nic-tx-timeout", "nic-tx-timeout"]
    assert all(isinstance(one["id"], str) for one in flags)
    assert [one["at_ns"] for one in flags] == sorted(one["at_ns"] for one in flags)


def test_the_inside_of_a_moment_by_core_and_by_process(gpu: Served) -> None:
    asked = {"from_": HELD[0], "to": HELD[1], "columns": 600}
    head, arrays = gpu.get("moment", **asked).columns
    assert head["bin_ns"] == 10_000_000
    assert [row["cpu"] for row in head["rows"]] == list(range(16))
    busy = arrays["cores"].astype(float) / head["full"] * head["top"]
    assert busy[9].mean() == pytest.approx(1.0, abs=0.05)
    assert busy[4].mean() < 0.02
    head, arrays = gpu.get("moment", **asked, rows="process", search="MEM_CGROUP_ITER").columns
    shown = arrays["match"].astype(float).sum(axis=1)
    assert head["rows"][int(shown.argmax())]["label"] == "process-719d 729"
    assert (arrays["match"] <= arrays["cores"]).all()


def test_a_sample_is_spread_over_the_time_it_stands_for(gpu: Served) -> None:
    """A core that is busy all the time shows no bands, however the bins fall between the samples."""
    for columns in (137, 300, 600):
        head, arrays = gpu.get("moment", from_=HELD[0] + NS, to=HELD[1] - NS, columns=columns, cpus=9).columns
        busy = arrays["cores"][0].astype(float) / head["full"] * head["top"]
        assert busy[1:-1].min() > 0.7, columns


def test_a_flame_graph_alone_and_against_a_second_rectangle(gpu: Served) -> None:
    asked = {"from_": HELD[0], "to": HELD[1], "cpus": 9}
    head, arrays = gpu.get("flame", **asked).columns
    assert (head["of_cores"], head["samples"], head["compared"]) == (1, 580, "")
    assert "before" not in arrays
    assert arrays["x1"][0] == 1.0
    inside = arrays["parent"].astype(int)
    assert (arrays["x0"] >= arrays["x0"][inside] - 1e-5).all()
    assert (arrays["x1"] <= arrays["x1"][inside] + 1e-5).all()
    head, arrays = gpu.get("flame", **asked, against=f"{QUIET[0]}-{QUIET[1]}").columns
    assert head["compared"] == "the second rectangle"
    walker = head["names"].index("mem_cgroup_iter")
    new = (arrays["name"] == walker) & (arrays["chance"] < head["sure"]) & (arrays["before"] == 0)
    assert arrays["cores"][new].sum() > 0.3


def test_a_flame_graph_against_usual_times(gpu: Served) -> None:
    head, arrays = gpu.get("flame", from_=HELD[0], to=HELD[1], cpus=9, against="usual").columns
    assert "of the same length" in head["compared"]
    assert arrays["before"].max() > 0


def test_filters_and_the_inverted_graph(gpu: Served) -> None:
    asked = {"from_": HELD[0], "to": HELD[1], "cpus": 9}
    whole, _ = gpu.get("flame", **asked).columns
    only, _ = gpu.get("flame", **asked, include="Mem_Cgroup_Iter").columns
    rest, _ = gpu.get("flame", **asked, exclude="mem_cgroup_iter").columns
    assert 0 < only["samples"] < whole["samples"]
    assert only["samples"] + rest["samples"] == whole["samples"]
    head, arrays = gpu.get("flame", **asked, inverted="yes").columns
    widest = arrays["x1"] - arrays["x0"]
    first = np.flatnonzero(arrays["depth"] == 1)
    assert head["names"][arrays["name"][first[widest[first].argmax()]]] == "mem_cgroup_iter"


def test_the_verdict_is_that_of_the_command_line(gpu: Served) -> None:
    told = gpu.get("why").document
    assert (told["schema"], told["cause"]["kind"], told["cause"]["cpu"]) == ("necroscope.why/2", "zombie-memcg", 9)
    assert told["titles"]["zombie-memcg"]
    symptom = told["symptom"]["id"]
    assert gpu.get("why", event=symptom).document["symptom"]["id"] == symptom


def test_zombies_have_places_growth_and_makers(gpu: Served) -> None:
    told = gpu.get("zombies", at=TO).document
    assert (told["total"], told["live"]) == (14496, 8)
    assert told["below"][0]["count"] == 14480
    assert told["makers"][0]["name"] == "process-170c"
    assert told["looks"][0][1] < told["looks"][-1][1]


@pytest.mark.parametrize(
    ("path", "asked", "said"),
    [
        ("cores", {}, "from is missing"),
        ("cores", {"from_": TO, "to": FROM, "columns": 9}, "ends before it begins"),
        ("cores", {**WINDOW, "columns": 0}, "out of bounds"),
        ("cores", {**WINDOW, "columns": 10**9}, "out of bounds"),
        ("cores", {"from_": 0, "to": 9 * 10**18, "columns": 9}, "longer than a month"),
        ("cores", {**WINDOW, "columns": 9, "look": "evil"}, "look is one of"),
        ("moment", {"from_": FROM, "to": FROM + 601 * NS, "columns": 9}, "ten minutes"),
        ("flame", {**WINDOW, "against": "../../etc"}, "against is none"),
        ("flame", {**WINDOW, "cpus": ",".join("1" * 999)}, "lists too many"),
        ("flame", {**WINDOW, "cgroups": "{}"}, "no JSON list"),
        ("flame", {**WINDOW, "include": "x" * 600}, "too long"),
        ("why", {"event": "no-such-kind"}, "has no event"),
        ("zombies", {"at": "٣"}, "no whole number"),
        ("recording", {"sql": "drop"}, "no parameter"),
    ],
)
def test_nonsense_is_refused_in_words(gpu: Served, path: str, asked: dict[str, Any], said: str) -> None:
    got = gpu.get(path, **asked)
    assert got.status == 400
    assert said in got.document["error"]["message"]


def test_the_document_has_every_route_and_no_other(gpu: Served) -> None:
    document = gpu.get("openapi.json").document
    assert document == openapi(endpoints())
    for path, operations in document["paths"].items():
        assert set(operations) == {"get"}
        assert gpu.get(f"{PREFIX}{path}").status in (200, 400), path
    assert gpu.get("nothing").status == 404


def test_what_is_required_is_what_the_document_says(gpu: Served) -> None:
    given = {"from": FROM, "to": TO, "columns": 9, "at": TO}
    for one in endpoints():
        needed = {parameter.name: given[parameter.name] for parameter in one.parameters if parameter.required}
        window = {"to": FROM + NS} if "from" in needed else {}
        assert gpu.get(f"{PREFIX}{one.path}", **{**needed, **window}).status == 200, one.path
        for name in needed:
            less = {other: value for other, value in needed.items() if other != name}
            assert gpu.get(f"{PREFIX}{one.path}", **less).status == 400, (one.path, name)


def test_every_parameter_is_explained_once() -> None:
    for one in endpoints():
        names = [parameter.name for parameter in one.parameters]
        assert len(names) == len(set(names))
        assert all(parameter.help and re.fullmatch(r"[a-z_]+", parameter.name) for parameter in one.parameters)


def test_every_question_is_in_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "api.md").read_text("utf-8")
    for one in endpoints():
        assert f"`GET {PREFIX}{one.path}" in page, one.path
    assert set(re.findall(r"`GET /api/v1(/[a-z]+)", page)) == {one.path for one in endpoints()} | {"/openapi"}
