"""Scenarios are found: the package's, and users' own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from necroscope.errors import BadInput
from necroscope.lab import catalogue

OWN = """
from necroscope.lab.scenario import Scenario, Truth
scenario = Scenario(name={name!r}, summary="Mine.", play=lambda stage: Truth(None), cause={cause!r}, subject="process")
"""


def write(folder: Path, name: str, cause: str | None = None) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / f"{name.replace('-', '_')}.py").write_text(OWN.format(name=name, cause=cause))
    return folder


def test_a_folder_of_the_environment_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(catalogue.VARIABLE, f"{write(tmp_path / 'a', 'mine')}{os.pathsep}{tmp_path / 'absent'}")
    with pytest.raises(BadInput, match="absent is not a folder") as error:
        catalogue.scenarios()
    assert "$NECROSCOPE_SCENARIOS" in error.value.hint
    (tmp_path / "absent").mkdir()
    assert "mine" in catalogue.scenarios()


def test_the_package_has_the_incident_its_kin_and_healthy_controls() -> None:
    found = catalogue.scenarios()
    causes = {name: scenario.cause for name, scenario in found.items()}
    assert causes["seeds-incident"] == causes["container-leak"] == causes["page-cache-leak"] == "zombie-memcg"
    assert {name for name, cause in causes.items() if cause is None} == {
        "healthy-idle", "healthy-busy", "harmless-zombies", "harmless-crash-loop", "patient-batch", "recording-hole",
        "late-hog",
    }  # fmt: skip
    assert sum(scenario.innocent for scenario in found.values()) >= 4
    for name, scenario in found.items():
        assert scenario.name == name
        assert scenario.shows, name
        assert (scenario.subject is None) == (scenario.cause is None), name
        assert scenario.right == ("explained" if scenario.cause else "unexplained")


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ("name=5", "its name 5 is not one word"),
        ("name='../x'", "its name '../x' is not one word"),
        ("name='mark[/up]'", "is not one word"),
        ("name='x', summary=5", "its summary is no text"),
        ("name='x', play=None", "its play is no function"),
        ("name='x', cause='no-such-mechanism'", "its cause 'no-such-mechanism' is no mechanism"),
        ("name='x', cause='user-hog', subject='gremlin'", "its subject 'gremlin' is none of unit, container"),
        ("name='x', needs='podman'", "its needs are not a tuple of Need"),
        ("name='x', shows=(1,)", "its shows are not a tuple of Show"),
    ],
)
def test_fields_that_cannot_be_are_told_with_their_file(tmp_path: Path, fields: str, wrong: str) -> None:
    given = f"{{**dict(summary='Mine.', play=print, cause=None), **dict({fields})}}"
    (tmp_path / "x.py").write_text(f"from necroscope.lab.scenario import Scenario\nscenario = Scenario(**{given})\n")
    with pytest.raises(BadInput) as raised:
        catalogue.load(tmp_path / "x.py")
    assert raised.value.message.startswith(f"{tmp_path}/x.py holds a scenario that cannot be played: ")
    assert wrong in raised.value.message


def test_own_folders_are_honoured_and_the_later_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = write(tmp_path / "one", "my-own", "user-hog"), write(tmp_path / "two", "my-own", "smaps-walk")
    monkeypatch.setenv(catalogue.VARIABLE, str(one))
    assert catalogue.find("my-own").cause == "user-hog"
    assert catalogue.find("my-own", [two]).cause == "smaps-walk"


def test_what_is_no_scenario_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="There is no scenario 'nothing'"):
        catalogue.find("nothing")
    with pytest.raises(BadInput, match="is not a folder"):
        catalogue.scenarios([tmp_path / "missing"])
    (tmp_path / "empty.py").write_text("")
    with pytest.raises(BadInput, match=r"empty\.py holds no `scenario"):
        catalogue.scenarios([tmp_path])
    (tmp_path / "empty.py").write_text("1 / 0")
    with pytest.raises(BadInput, match="ZeroDivisionError"):
        catalogue.scenarios([tmp_path])


def test_every_scenario_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "lab.md").read_text("utf-8")
    for name in catalogue.scenarios():
        assert f"| `{name}` |" in page, name
