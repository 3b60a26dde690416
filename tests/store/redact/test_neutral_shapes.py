"""Neutral names with the shape of the old ones: the same families, the same units, ids that begin alike."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from necroscope.store.redact.neutral_shapes import ShapedNames
from necroscope.store.redact.neutral_words import neutral_sentence
from necroscope.vocabulary.cgroup_family import pattern, segment_pattern

KEY = bytes(32)
LONG = "3f5c90aa27d1" + "0b4e" * 13
POD = "9d1c0e5a_4b1f_4f0e_9c77_0123456789ab"


@pytest.mark.parametrize(
    ("path", "made"),
    [
        ("/system.slice", r"/system\.slice"),
        ("/system.slice/acme-agent.service", r"/system\.slice/unit-[g-v]{4}\.service"),
        ("/system.slice/acme.service/job", r"/system\.slice/unit-[g-v]{4}\.service/cgroup-[g-v]{4}"),
        (f"/docker/{LONG}", r"/docker/[0-9a-f]{64}"),
        (f"/system.slice/docker-{LONG}.scope", r"/system\.slice/docker-[0-9a-f]{64}\.scope"),
        (
            f"/kubepods.slice/kubepods-burstable-pod{POD}.slice/cri-containerd-{LONG}.scope",
            r"/kubepods\.slice/kubepods-burstable-pod[0-9a-f]{8}(_[0-9a-f]{4}){3}_[0-9a-f]{12}\.slice"
            r"/cri-containerd-[0-9a-f]{64}\.scope",
        ),
        ("/user.slice/user-1000.slice/session-7.scope", r"/user\.slice/user-\d{4}\.slice/session-\d\.scope"),
        ("/machine.slice/machine-acme.scope", r"/machine\.slice/machine-unit-[g-v]{4}\.scope"),
        ("/dockerfile", r"/cgroup-[g-v]{4}"),
        ("/docker_acme/x", r"/docker_cgroup-[g-v]{4}/cgroup-[g-v]{4}"),
        ("/docker/<id>", r"/docker/<id>"),
        ("/acme-<n>", r"/cgroup-[g-v]{4}-<n>"),
        ("/", "/"),
        ("/multi-user.target", r"/multi-user\.target"),
    ],
)
def test_paths(path: str, made: str) -> None:
    assert re.fullmatch(made, ShapedNames(KEY).path(path)), ShapedNames(KEY).path(path)


_SEGMENTS = st.one_of(
    st.text(st.characters(codec="ascii", exclude_characters="/\n"), min_size=1, max_size=40),
    st.from_regex(
        r"[a-z]{2,8}[-_.@]?([0-9a-f]{8,16}|[0-9]{1,8}|[0-9A-Za-z]{20,30})?(\.service|\.scope)?", fullmatch=True
    ),
    st.sampled_from([LONG, POD, f"pod{POD}", "run-r0b4e0b4e.scope", "job4711", "k8s-agent", "a\\x2db7.service"]),
)


@settings(max_examples=200)
@given(st.lists(_SEGMENTS, min_size=1, max_size=4))
def test_a_family_stays_a_family(segments: list[str]) -> None:
    names, path = ShapedNames(KEY), "/" + "/".join(segments)
    for segment in segments:
        made = names.path(segment)
        shapes = re.findall("<id>|<n>", segment_pattern(segment)), re.findall("<id>|<n>", segment_pattern(made))
        # A name of which no neutral one has the shape is a token as a whole.
        assert shapes[0] == shapes[1] or re.fullmatch(r"(unit|cgroup)-[g-v]{4,}(\.\w+)?", made)
        assert names.path(made) != made or made == segment
    alike = path.replace("7", "8"), path
    if pattern(alike[0]) == pattern(alike[1]):
        assert pattern(names.path(alike[0])) == pattern(names.path(alike[1]))


@given(st.sets(_SEGMENTS, max_size=30))
def test_different_names_stay_different(segments: set[str]) -> None:
    names = ShapedNames(KEY)
    assert len({names.path(one) for one in segments}) == len(segments)


@given(st.text("0123456789abcdef", min_size=64, max_size=64), st.integers(12, 63))
def test_an_id_that_is_cut_short_is_still_the_beginning_of_the_whole(text: str, cut: int) -> None:
    names = ShapedNames(KEY)
    if not text[:12].isalpha() and not text[:cut].isdigit() and not names.identity(text)[:12].isalpha():
        whole = names.identity(text)
        assert whole.startswith(names.identity(text[:cut])) or whole[:cut].isdigit()
        assert len(whole) == 64


def test_ids_differ_where_the_old_ones_do() -> None:
    names = ShapedNames(KEY)
    one, other = names.identity(LONG), names.identity(LONG[:20] + "f" + LONG[21:])
    assert one[:20] == other[:20]
    assert one[20] != other[20]
    assert one != LONG


def test_two_cases_have_nothing_in_common() -> None:
    assert ShapedNames(KEY).path(f"/docker/{LONG}") == ShapedNames(KEY).path(f"/docker/{LONG}")
    assert ShapedNames(KEY).path(f"/docker/{LONG}") != ShapedNames(b"other").path(f"/docker/{LONG}")
    assert ShapedNames().identity(LONG) != ShapedNames().identity(LONG)


def test_a_name_in_a_sentence_is_of_the_sort_as_which_it_is_known() -> None:
    names = ShapedNames(KEY)
    process = names.process("acme-agent")
    assert re.fullmatch("process-[g-v]{4}", process)
    assert names.unit("acme-agent.service") == process.replace("process", "unit") + ".service"
    assert neutral_sentence(names, "acme-agent died") == f"{process} died"
    assert neutral_sentence(names, "acme-other died").startswith("name-")
