"""Users' files of hypotheses: which are read, in which order, and what is said of those that are not."""

from __future__ import annotations

from pathlib import Path

from necroscope.diagnose.hypotheses import catalogue
from necroscope.explain.mechanism_files import hypotheses_of

MECHANISM = """
[[mechanisms]]
id = "my-walk"
title = "our module walks its table"
expensive = "It is long."
references = ["our wiki"]
functions = ["my_table_walk"]
priority = 95
remedies = [{ action = "restart", for = ["unit"], command = "restart {subject}", text = "t", risk = "gap", cost = "c" }]
"""


def test_folders_come_in_their_order(tmp_path: Path) -> None:
    for name, number in (("b", 1), ("a", 2)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "one.toml").write_text(MECHANISM.replace("95", str(number)))
    mine = hypotheses_of([tmp_path / "b", tmp_path / "a"]).of("my-walk")
    assert mine is not None
    assert mine.priority == 2


def test_only_files_called_toml_are_read(tmp_path: Path) -> None:
    (tmp_path / "mine.toml.bak").write_text("broken [")
    (tmp_path / "folder.toml").mkdir()
    found = hypotheses_of([tmp_path])
    assert (found.warnings, len(found.mechanisms)) == ((), len(catalogue().mechanisms))


def test_a_folder_that_is_not_there_is_no_fault(tmp_path: Path) -> None:
    assert hypotheses_of([tmp_path / "no"]).warnings == ()


def test_bytes_that_are_no_text_and_files_that_are_huge_are_warnings(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "b.toml").write_bytes(b"#" * ((1 << 20) + 1))
    said = {Path(one.where).name: one.message for one in hypotheses_of([tmp_path]).warnings}
    assert said == {"a.toml": "is no UTF-8 text", "b.toml": "is larger than 1,048,576 bytes"}
