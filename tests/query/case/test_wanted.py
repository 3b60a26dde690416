"""Functions that are asked for."""

from __future__ import annotations

from necroscope.query.case.wanted import Names, Orders
from necroscope.vocabulary.case import LineUp


def test_names_and_patterns() -> None:
    names = Names({"udp_sendmsg", "*_sendmsg_nosec", "flush_*_mm"})
    found = names.among(["udp_sendmsg", "tcp_sendmsg", "sock_sendmsg_nosec", "flush_tlb_mm", "flush_tlb_mm_range"])
    assert found == ("flush_tlb_mm", "sock_sendmsg_nosec", "udp_sendmsg")
    assert names.among(["udp_sendmsg", "udp_sendmsg"]) == ("udp_sendmsg",)


def test_a_dot_is_no_pattern() -> None:
    assert Names({"a.b*"}).among(["aXbc", "a.bc"]) == ("a.bc",)


def test_a_question_mark_is_one_character_as_in_the_catalogue() -> None:
    assert Names({"next_?"}).among(["next_a", "next_", "next_ab"]) == ("next_a",)


def test_nothing_is_asked_for() -> None:
    assert Names(()).among(["any"]) == ()
    assert not Orders().wanted(LineUp())
