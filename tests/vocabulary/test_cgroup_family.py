from __future__ import annotations

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.vocabulary.cgroup_family import pattern

ID = "3f5c0a9de1b2c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (f"/docker/{ID}", "/docker/<id>"),
        (f"/system.slice/docker-{ID}.scope", "/system.slice/docker-<id>.scope"),
        (f"/machine.slice/libpod-{ID}.scope/container", "/machine.slice/libpod-<id>.scope/container"),
        (f"/libpod_parent/libpod-conmon-{ID}", "/libpod_parent/libpod-conmon-<id>"),
        (
            f"/kubepods.slice/kubepods-pod9d1c2b3a_1111_2222_3333_444455556666.slice/cri-containerd-{ID}.scope",
            "/kubepods.slice/kubepods-pod<id>.slice/cri-containerd-<id>.scope",
        ),
        ("/kubepods/burstable/pod9d1c2b3a-1111-2222-3333-444455556666/x", "/kubepods/burstable/pod<id>/x"),
        ("/kubepods/podabcdef01-aaaa-bbbb-cccc-ddddeeeeffff", "/kubepods/pod<id>"),
        (f"/kubepods/pod{ID[:32]}", "/kubepods/pod<id>"),
        (f"/ecs/{ID[:32]}/{ID}", "/ecs/<id>/<id>"),
        (f"/ecs/{ID[:32]}-1234567890", "/ecs/<id>-<n>"),
        ("/system.slice/run-r3f5c0a9de1b2c4d5e6f708192a3b4c5d.scope", "/system.slice/run-r<id>.scope"),
        ("/system.slice/run-u123.service", "/system.slice/run-u<n>.service"),
        ("/system.slice/run-p4711-i99.service", "/system.slice/run-p<n>-i<n>.service"),
        ("/user.slice/user-1000.slice/session-3.scope", "/user.slice/user-<n>.slice/session-<n>.scope"),
        ("/user.slice/user-1000.slice/user@1000.service", "/user.slice/user-<n>.slice/user@<n>.service"),
        ("/system.slice/getty@tty1.service", "/system.slice/getty@tty<n>.service"),
        ("/system.slice/leaky2.service", "/system.slice/leaky<n>.service"),
        ("/jobs/z000017", "/jobs/z<n>"),
        ("/jobs/4711/step_0", "/jobs/<n>/step_<n>"),
        ("/short/3f5c0a9d", "/short/<id>"),
        ("/short/3f5c0a9", "/short/3f5c0a<n>"),
        ("/docker/123456789012", "/docker/<id>"),
        ("/buildkit/x8sp1g3zv6l8q9ph0kz9mbyy8", "/buildkit/<id>"),
        (r"/system.slice/dev-disk-by\x2duuid-1a2b.swap", r"/system.slice/dev-disk-by\x2duuid-1a2b.swap"),
        (r"/system.slice/job\x2d17.service", r"/system.slice/job\x2d<n>.service"),
        ("/system.slice/deadbeat.service", "/system.slice/deadbeat.service"),
        ("/cafe/facade/deadbeef/defaced", "/cafe/facade/deadbeef/defaced"),
        ("/k8s/ip6tables", "/k8s/ip6tables"),
        ("/system.slice", "/system.slice"),
        ("/", "/"),
        ("", ""),
    ],
)
def test_patterns(path: str, expected: str) -> None:
    assert pattern(path) == expected


@given(st.text())
def test_a_pattern_is_the_pattern_of_itself(path: str) -> None:
    assert pattern(pattern(path)) == pattern(path)


@given(st.text(alphabet="abcdefx0123456789-_./\\", max_size=60))
def test_so_it_is_for_what_looks_like_ids(path: str) -> None:
    assert pattern(pattern(path)) == pattern(path)


@given(st.text(st.characters(exclude_categories=("Nd",), exclude_characters="0123456789")))
def test_what_holds_no_digit_stays(path: str) -> None:
    assert pattern(path) == path


@given(st.binary(min_size=32, max_size=32).map(bytes.hex), st.uuids(), st.integers(0, 10**9))
def test_ids_of_one_kind_fall_together(identity: str, pod: uuid.UUID, number: int) -> None:
    if any(character.isdigit() for character in identity):
        assert pattern(f"/docker/{identity}") == "/docker/<id>"
    assert pattern(f"/kubepods/pod{pod}") == "/kubepods/pod<id>"
    assert pattern(f"/user.slice/user-{number}.slice") == "/user.slice/user-<n>.slice"


@given(st.text(alphabet="abc123<>", max_size=20), st.text(alphabet="abc123<>", max_size=20))
def test_each_segment_is_judged_on_its_own(one: str, two: str) -> None:
    assert pattern(f"{one}/{two}") == f"{pattern(one)}/{pattern(two)}"
