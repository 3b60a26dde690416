"""What comes from the parser is checked: it reads strangers' files, and may have been taken over by one."""

from __future__ import annotations

import json

import pytest

from necroscope.sense.confined.messages import ANSWER_BYTES, Answer, Request, answer_of, answer_packet, request_of
from necroscope.sense.confined.refusal import Refusal


def test_requests_and_answers_come_back_as_they_were() -> None:
    request = Request(3, "object", "k", 7, "/odd/\udcff", 9, "ab", (1, 2**64 - 1))
    assert request_of(request.packet()) == request
    answer = Answer(3, Refusal.LIMIT, True, False, ((0, 5, "f\udcff"), (5, 9, None)))
    assert answer_of(answer_packet(answer)) == answer


def test_an_answer_that_is_too_long_is_cut_at_a_range() -> None:
    answer = Answer(1, ranges=tuple((n, n + 1, "\u1234" * 5000) for n in range(512)))
    packet = answer_packet(answer)
    assert len(packet) < ANSWER_BYTES
    found = answer_of(packet)
    assert found is not None
    assert 0 < len(found.ranges) < 512
    assert {len(name or "") for _, _, name in found.ranges} == {512}


GOOD = {"id": 1, "reason": "", "ranges": []}


@pytest.mark.parametrize(
    "value",
    [
        [], 3, None, "x", {}, {"id": 1}, {**GOOD, "reason": "because"}, {**GOOD, "id": []}, {**GOOD, "ranges": 3},
        {**GOOD, "ranges": [[5, 4, "x"]]}, {**GOOD, "ranges": [[-1, 4, "x"]]}, {**GOOD, "ranges": [[0, 2**64, "x"]]},
        {**GOOD, "ranges": [[0, 1, 3]]}, {**GOOD, "ranges": [[0.0, 1, "x"]]}, {**GOOD, "ranges": [[True, 2, "x"]]},
    ],
)  # fmt: skip
def test_nonsense_is_no_answer(value: object) -> None:
    assert answer_of(json.dumps(value).encode()) is None


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[" * 100_000])
def test_bytes_that_are_no_json_are_no_answer(data: bytes) -> None:
    assert answer_of(data) is None
