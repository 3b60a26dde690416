"""No flipped bit and no lost file changes an answer in silence.

A sample by default; `make damage` tries 600 bits. NECROSCOPE_DAMAGE is how many, NECROSCOPE_DAMAGE_SEED which.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stage.damaged import Answers, Damage, answers, damaged, files_of, recording, silent, some_damage
from stage.older import first_version

BITS = int(os.environ.get("NECROSCOPE_DAMAGE", "8"))
SEED = int(os.environ.get("NECROSCOPE_DAMAGE_SEED", "1"))
pytestmark = [pytest.mark.timeout(60 + 10 * BITS), pytest.mark.slow]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recording(tmp_path_factory.mktemp("damage"))


@pytest.fixture(scope="module")
def right(store: Path) -> Answers:
    return answers(store)


def test_the_questions_have_answers(right: Answers) -> None:
    assert all(out for out, _ in right)


def test_flipped_bits(store: Path, right: Answers) -> None:
    silently = []
    for what in some_damage(store, BITS, SEED):
        with damaged(store, what):
            if found := silent(right, answers(store)):
                silently.append(f"{what}: {found}")
    assert silently == []


def test_before_manifests_there_is_an_answer_or_a_sentence(tmp_path: Path) -> None:
    """What Parquet's own checksums leave out is not noticed there, but nothing may end with a traceback."""
    store = first_version(recording(tmp_path))
    for what in some_damage(store, max(6, BITS // 4), SEED + 1):
        with damaged(store, what):
            answers(store)


def test_lost_files(store: Path, right: Answers) -> None:
    lost = [path for path in files_of(store) if path.parent.name != "inbox"]
    silently = []
    for path in lost if BITS >= 500 else lost[SEED % 4 :: 4]:
        with damaged(store, Damage(path)):
            if found := silent(right, answers(store)):
                silently.append(f"{path}: {found}")
    assert silently == []
