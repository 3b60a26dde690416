"""Cases in files: exactly the same comes back, and whatever somebody else wrote is a case or bad input."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import random
import stat
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from necroscope.diagnose.hypotheses import catalogue
from necroscope.diagnose.judge import judge
from necroscope.errors import BadInput, NecroscopeError
from necroscope.show.why.answer import Known
from necroscope.show.why.document import why_document
from necroscope.show.why.story import print_story
from necroscope.vocabulary import case_file
from necroscope.vocabulary.case import Case, LineUp, OtherSymptom, Starvation
from necroscope.vocabulary.case_file import load, save
from stage.cases import CASE, STACKS, any_case


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cases")


def _document(case: Case, path: Path) -> dict[str, Any]:
    save(case, path)
    document: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return document


def _refused(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    with pytest.raises(BadInput) as caught:
        load(path)
    assert caught.value.hint
    assert caught.value.message.endswith(".")
    assert "\n" not in caught.value.message
    return caught.value.message.removeprefix(f"{path} is not a case: ")


def _packed(document: Any) -> bytes:
    return gzip.compress(json.dumps(document).encode())


# -- what was saved comes back ---------------------------------------------------------------------------------


@settings(max_examples=80, deadline=None)
@given(any_case())
def test_any_case_comes_back_as_it_was(folder: Path, case: Case) -> None:
    path = folder / "any.case"
    save(case, path)
    assert load(path) == case


def test_a_file_is_small_and_the_same_each_time(tmp_path: Path) -> None:
    save(CASE, tmp_path / "one")
    save(CASE, tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    document = _document(CASE, tmp_path / "one")
    assert document["schema"] == "necroscope.case/1"
    assert len(document["stacks"]) == len(STACKS)
    assert document["functions"].count("mem_cgroup_iter") == 1
    (starved,) = document["case"]["starvations"]
    assert starved["line_up"]["suspects"][0]["stacks"] == [[0, 1, 2], [4.1, 1.2, 0.3]]
    assert "boots" not in document["case"]


def test_a_case_as_large_as_they_get_takes_less_than_300_kb(tmp_path: Path) -> None:
    """As many stacks as are kept, in which only the weights differ from suspect to suspect."""
    draw = random.Random(7)
    names = [f"function_{draw.randrange(10**9)}" for _ in range(900)]
    shapes = [replace(STACKS[0], functions=tuple(draw.sample(names, 14))) for _ in range(120)]
    (one,) = CASE.starvations
    suspects = tuple(
        replace(one.line_up.suspects[0], stacks=tuple(replace(shape, weight=draw.random()) for shape in shapes))
        for _ in range(12)
    )
    large = replace(one, line_up=LineUp(suspects, (), suspects[0], 1.0, 12))
    case = replace(CASE, starvations=(large,) * 8, others=(OtherSymptom(CASE.symptom, None, (large,)),) * 5)
    assert save(case, tmp_path / "large") < 300_000
    assert load(tmp_path / "large") == case


def test_numbers_of_numpy_are_saved_as_numbers(tmp_path: Path) -> None:
    (one,) = CASE.starvations
    odd = replace(
        one,
        average_busy=np.float64(0.1),
        numbers={"a": np.int64(3), "b": 7},
        run=replace(one.run, cpu=np.int32(3), counted=np.bool_(True)),
    )
    save(replace(CASE, starvations=(odd,)), tmp_path / "case")
    (back,) = load(tmp_path / "case").starvations
    assert back.numbers == {"a": 3.0, "b": 7.0}
    assert (back.average_busy, type(back.average_busy), back.run.cpu) == (0.1, float, 3)


def test_a_number_that_is_none_is_a_defect_of_ours(tmp_path: Path) -> None:
    (one,) = CASE.starvations
    case = replace(CASE, starvations=(replace(one, average_busy=float("nan")),))
    with pytest.raises(NecroscopeError, match="not a finite number"):
        save(case, tmp_path / "case")
    assert list(tmp_path.iterdir()) == []


def test_the_file_is_its_owners_and_appears_whole(tmp_path: Path) -> None:
    path = tmp_path / "one.case"
    assert save(CASE, path) == path.stat().st_size
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["one.case"]
    with pytest.raises(BadInput, match="cannot be written"):
        save(CASE, tmp_path / "none" / "one.case")


def test_what_a_later_version_adds_with_a_default_is_no_reason_to_refuse_an_older_file(tmp_path: Path) -> None:
    path = tmp_path / "case"
    document = _document(CASE, path)
    assert "others" not in document["case"]
    assert load(path).others is None


# -- what somebody else wrote ------------------------------------------------------------------------------------


def test_changed_bytes_are_a_case_or_bad_input(tmp_path: Path) -> None:
    path, draw = tmp_path / "case", random.Random(4)
    save(CASE, path)
    packed = path.read_bytes()
    plain = gzip.decompress(packed)
    refused = 0
    for number in range(900):
        data = bytearray(packed if number % 3 == 0 else plain)
        if number % 2:
            data = data[: draw.randrange(len(data))]
        for _ in range(draw.choice((1, 1, 2, 5)) if data else 0):
            data[draw.randrange(len(data))] = draw.randrange(256)
        path.write_bytes(bytes(data) if number % 3 == 0 else gzip.compress(bytes(data), 1))
        refused += _is_refused(path)
    assert 500 < refused < 900


def _is_refused(path: Path) -> bool:
    """Whether it is bad input, in one sentence; otherwise it is a case."""
    try:
        found = load(path)
    except BadInput as error:
        return (bool(error.hint) and "\n" not in error.message) or pytest.fail(f"{error.message!r}, {error.hint!r}")
    assert isinstance(found, Case)
    return False


_LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just([]) | st.just({})


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for step, inner in steps for found in _paths(inner, (*path, step)))]


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_changed_value_is_a_case_or_bad_input(folder: Path, data: st.DataObject) -> None:
    path = folder / "changed.case"
    document = _document(CASE, path)
    *steps, last = data.draw(st.sampled_from(_paths(document)[1:]))
    place: Any = document
    for step in steps:
        place = place[step]
    if isinstance(place, dict) and data.draw(st.booleans()):
        del place[last]
    else:
        place[last] = data.draw(_LEAVES)
    path.write_bytes(gzip.compress(json.dumps(document).encode(), 1))
    _is_refused(path)


_ODD: dict[type, tuple[Any, ...]] = {
    int: (0, 1, -1, (1 << 62) - 1, 1 - (1 << 62)),
    float: (0.0, -1.0, 1e18, -1e18, 1e-300, 0.5),
    str: ("", "/", "kworker/0:1", "\udc80", "{value}", "a" * 300, "mark", "found"),
    bool: (False, True),
    list: ([],),
    dict: ({},),
    type(None): (None,),
}


def test_whatever_is_loaded_can_be_judged_and_rendered(tmp_path: Path) -> None:
    known, path, draw = catalogue(), tmp_path / "odd.case", random.Random(11)
    whole = json.dumps(_document(CASE, path))
    places = [one for one in _paths(json.loads(whole)) if one[:1] == ("case",)]
    judged = 0
    for _ in range(700):
        document = json.loads(whole)
        for *steps, last in draw.choices(places[1:], k=draw.choice((1, 2, 4))):
            place: Any = document
            with contextlib.suppress(KeyError, IndexError, TypeError):
                for step in steps:
                    place = place[step]
                place[last] = draw.choice(_ODD[type(place[last])])
        path.write_bytes(gzip.compress(json.dumps(document).encode(), 1))
        if not _is_refused(path):
            verdict = judge(load(path), known)
            assert json.dumps(why_document(verdict), allow_nan=False)
            print_story(verdict, Console(file=io.StringIO(), width=80), Known(known.titles, known.roles))
            judged += 1
    assert judged > 200


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda one: one.update(schema="necroscope.case/2"), "it is a 'necroscope.case/2', this version reads"),
        (lambda one: one.update(schema="necroscope.why/2"), "it is a 'necroscope.why/2'"),
        (lambda one: one.update(schema=[]), "it has no schema"),
        (lambda one: one.update(more=1), "it has not the keys of one."),
        (lambda one: one["case"].update(more=1), "case has an unknown key 'more'."),
        (lambda one: one["case"].pop("symptom"), "case lacks 'symptom'."),
        (lambda one: one["case"].update(cores="96"), "case.cores is not a whole number."),
        (lambda one: one["case"].update(cores=96.0), "case.cores is not a whole number."),
        (lambda one: one["case"].update(cores=True), "case.cores is not a whole number."),
        (lambda one: one["case"].update(cores=1 << 62), "case.cores is too large a number."),
        (lambda one: one["case"].update(covered=1e19), "case.covered is too large a number."),
        (lambda one: one["case"]["symptom"].update(id=-1), "case.symptom.id is not a number of 64 bits."),
        (lambda one: one["case"].update(counted=1), "case.counted is neither true nor false."),
        (lambda one: one["case"].update(covered=float("nan")), "case.covered is not a finite number."),
        (lambda one: one["case"].update(covered=float("-inf")), "case.covered is not a finite number."),
        (lambda one: one["case"].update(recorded=[1, 2, 3]), "case.recorded has not 2 entries."),
        (lambda one: one["case"].update(notes="x"), "case.notes is not a list."),
        (lambda one: one["case"].update(notes=["x", 1]), "case.notes[1] is not a text."),
        (lambda one: one["case"].update(notes=["x" * 300_000]), "case.notes[0] is too long a text."),
        (lambda one: one["case"].update(lost_ns=[1] * 100_001), "case.lost_ns is too long a list."),
        (lambda one: one["case"].update(symptom=[]), "case.symptom is not an object."),
        (lambda one: _starved(one)["numbers"].update(x=None), "case.starvations[0].numbers[3] is not a number."),
        (lambda one: _starved(one)["run"].update(shares=[1.0]), "case.starvations[0].run.shares has not 6 entries."),
        (lambda one: _starved(one)["run"].update(shares=[-0.1] * 6), "case.starvations[0].run.shares are no shares."),
        (
            lambda one: _suspect(one).update(context="odd"),
            "suspects[0].context is not one of the words that are known.",
        ),
        (lambda one: _starved(one)["strip"].update(busy=[]), "strip has rows of different lengths."),
        (lambda one: _suspect(one).update(stacks=[[9], [1.0]]), "stacks names a stack that is not there."),
        (lambda one: _suspect(one).update(stacks=[[-1], [1.0]]), "stacks names a stack that is not there."),
        (lambda one: _suspect(one).update(stacks=[[0], []]), "stacks names a stack that is not there."),
        (lambda one: one["stacks"].append([[99], 0, True]), "stacks[3] names a function that is not there."),
        (lambda one: one["stacks"].append([[0] * 1001, 0, True]), "stacks[3] is too deep a stack."),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, change: Callable[[dict[str, Any]], Any], says: str) -> None:
    document = _document(CASE, tmp_path / "case")
    change(document)
    assert says in _refused(tmp_path / "case", _packed(document))


def _starved(document: dict[str, Any]) -> dict[str, Any]:
    starved: dict[str, Any] = document["case"]["starvations"][0]
    return starved


def _suspect(document: dict[str, Any]) -> dict[str, Any]:
    suspect: dict[str, Any] = _starved(document)["line_up"]["suspects"][0]
    return suspect


def test_files_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "case"
    save(CASE, path)
    whole = path.read_bytes()
    assert "its end is missing" in _refused(path, b"")
    assert "not compressed with gzip" in _refused(path, b"no case")
    assert "its end is missing" in _refused(path, whole[:-9])
    assert "or is damaged" in _refused(path, whole[:-8] + b"12345678")
    assert "something follows it" in _refused(path, whole + b"more")
    assert "something follows it" in _refused(path, whole + whole)
    assert "it has no schema" in _refused(path, _packed([]))
    assert "as this program writes it" in _refused(path, gzip.compress('{"a":"ä"}'.encode()))
    with pytest.raises(BadInput, match="cannot be read: No such file"):
        load(tmp_path / "none")
    with pytest.raises(BadInput, match="is not a file"):
        load(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadInput, match="is not a file"):
        load(tmp_path / "pipe")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"[" * 100_000, "not valid JSON"),
        (b'{"a":' * 60_000, "not valid JSON"),
        (b"[" * 10_000_000, "too many values"),
        (b"[" + b"{}," * 5_000_000, "too many values"),
        (b"[" + b"1," * 8_000_000, "too many values"),
        (b" " * (40 << 20), "more than 32 MiB"),
        (b'{"schema":' + b"1" * 20_000_000, "not valid JSON"),
        (b'{"schema":1e999999999}', "it has no schema"),
        (b'{"schema":' + b'"' + b"x" * 20_000_000 + b'"}', "it is a 'xxx"),
    ],
)
def test_bombs(tmp_path: Path, data: bytes, says: str) -> None:
    started = time.monotonic()
    assert says in _refused(tmp_path / "bomb", gzip.compress(data, 1))
    assert time.monotonic() - started < 60


def test_a_file_that_is_too_large_is_not_even_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(case_file, "FILE_BYTES_MOST", 100)
    save(CASE, tmp_path / "case")
    with pytest.raises(BadInput, match="it is larger than"):
        load(tmp_path / "case")


def test_hostile_names_come_back_as_they_are(tmp_path: Path) -> None:
    evil = "\x1b[2J\x00\n\udc80[red]/../$(reboot)'\""
    (one,) = CASE.starvations
    line_up = LineUp((replace(one.line_up.suspects[0], name=evil, cgroup=evil),))
    case = replace(CASE, starvations=(Starvation(one.run, one.whole, line_up, numbers={evil: 1.0}),), notes=(evil,))
    save(case, tmp_path / "case")
    assert load(tmp_path / "case") == case
    document = _document(case, tmp_path / "case")
    document["case"][evil] = 1
    assert "\n" not in _refused(tmp_path / "case", _packed(document))
