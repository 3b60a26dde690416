"""Times of a verb that reads a bundle, and what is said of local times."""

from __future__ import annotations

from pathlib import Path

import pytest

from stage.program import Program

INCIDENT = Path(__file__).parents[2] / "incidents" / "seeds-incident.ncb"
END = "2026-11-16T21:37:16.800Z"
WEST = {"TZ": "EST5"}


def _from(necroscope: Program, written: str, *options: str, env: dict[str, str] | None = None) -> tuple[str, str]:
    ran = necroscope("top", "--bundle", INCIDENT, "--json", "--from", written, "--to", END, *options, env=env)
    return ran.document["window"][0], ran.err


@pytest.mark.parametrize(
    ("written", "at"), [("-30s", "2026-11-16T21:36:46.800Z"), ("16:37:00", "2026-11-16T21:37:00.000Z")]
)
def test_relative_times_of_a_bundle_count_from_its_end(necroscope: Program, written: str, at: str) -> None:
    found, said = _from(necroscope, written, env=WEST)
    assert found == at
    assert f"necroscope: --from {written} is {at}" in said


def test_now_of_a_bundle_is_its_end(necroscope: Program) -> None:
    ran = necroscope("sql", "--bundle", INCIDENT, "--from", "now", "--json", "select count(*) as n from events")
    assert ran.document == [{"n": 1}]
    assert ran.err == f"necroscope: --from now is {END}, from the end of the bundle\n"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (
            "2026-11-16T16:37",
            "necroscope: --from 2026-11-16T16:37 is 2026-11-16T21:37:00.000Z (local time is UTC-0500)\n",
        ),
        ("21:37:00Z", "necroscope: --from 21:37:00Z is 2026-11-16T21:37:00.000Z\n"),
        ("2026-11-16T21:37Z", ""),
        ("1794865020", ""),
    ],
)
def test_local_times_are_repeated_in_utc(necroscope: Program, written: str, said: str) -> None:
    assert _from(necroscope, written, env=WEST) == ("2026-11-16T21:37:00.000Z", said)


def test_where_local_time_is_utc_nothing_needs_to_be_said(necroscope: Program) -> None:
    assert _from(necroscope, "2026-11-16T21:37", env={"TZ": "UTC"}) == ("2026-11-16T21:37:00.000Z", "")


def test_quiet_says_nothing_of_times(necroscope: Program) -> None:
    assert necroscope("top", "--bundle", INCIDENT, "--from", "-30s", "-q").err == ""


def test_longer_ago_than_all_times_is_bad_input(necroscope: Program) -> None:
    ran = necroscope("events", "--bundle", INCIDENT, "--since", "-700000d")
    assert ran.code == 2
    assert "--since" in ran.err
