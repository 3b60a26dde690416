"""`necroscope config` as users see it."""

from __future__ import annotations

import json
from pathlib import Path

from stage.program import Program


def test_a_right_file_is_fine_and_a_wrong_one_is_told(necroscope: Program, tmp_path: Path) -> None:
    file = tmp_path / "necroscope.toml"
    file.write_text("[store]\nmax_age_s = '3d'\n")
    right = necroscope("config", "check", "--config", file)
    assert (right.code, right.out) == (0, f"{file} is fine.\n")
    file.write_text("[store]\nmaxage_s = '3d'\n")
    wrong = necroscope("config", "check", "--config", file)
    assert wrong.code == 2
    assert "unknown setting 'maxage_s' in [store]" in wrong.err
    assert "did you mean max_age_s?" in wrong.err


def test_a_sensor_that_does_not_exist_cannot_be_skipped(necroscope: Program, tmp_path: Path) -> None:
    file = tmp_path / "necroscope.toml"
    file.write_text("[record]\nskip = ['gpus']\n")
    wrong = necroscope("config", "check", "--config", file)
    assert wrong.code == 2
    assert "did you mean gpu?" in wrong.err


def test_what_is_in_force(necroscope: Program) -> None:
    shown = necroscope("config", "show", "--json", env={"NECROSCOPE_STORE__MAX_AGE_S": "3d"})
    assert json.loads(shown.out)["settings"]["store"]["max_age_s"] == 259_200.0
    assert "max_age_s = 259200.0" in necroscope("config", "show", env={"NECROSCOPE_STORE__MAX_AGE_S": "3d"}).out


def test_the_default_file_is_right(necroscope: Program, tmp_path: Path) -> None:
    file = tmp_path / "necroscope.toml"
    file.write_text(necroscope("config", "default").out)
    assert necroscope("config", "check", "--config", file).code == 0
