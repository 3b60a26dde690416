from __future__ import annotations

from necroscope.sense.kernel.tally import FAMILIES_MAX, FILES_KEPT, NEWEST_KEPT, Tally
from necroscope.vocabulary.model import DirectoryFamily, ParentCount, Pin


def test_families_share_the_deepest_folder_above_them() -> None:
    tally = Tally()
    for pod in ("a", "b"):
        tally.add("/kubepods/<id>/<id>", f"/kubepods/{pod}", f"/kubepods/{pod}/x", 1, None, {})
    (family,) = tally.families()
    assert (family.parent, family.zombies, family.oldest_age_s) == ("/kubepods", 2, None)


def test_the_largest_come_first() -> None:
    tally = Tally()
    tally.add_parent("/b", 1)
    tally.add_parent("/c", 5)
    tally.add_parent("/a", 1)
    assert tally.by_parent() == (ParentCount("/c", 5), ParentCount("/a", 1), ParentCount("/b", 1))
    assert tally.zombies == 7


def test_memory_is_bounded_whatever_the_names() -> None:
    tally = Tally()
    for number in range(5 * FAMILIES_MAX):
        family = tally.family_of(f"/{'x' * (number % 7)}", f"word{number}")
        tally.add(family, "/", f"/{number}", number, 1.0, {"anon": 1})
    families = tally.families()
    assert len(families) <= 2 * FAMILIES_MAX + 1
    assert sum(family.zombies for family in families) == 5 * FAMILIES_MAX
    assert tally.pinned_by() == (Pin("anon", 5 * FAMILIES_MAX),)


def test_the_newest_are_kept_and_a_path_that_repeats_is_counted_among_many() -> None:
    tally = Tally()
    for serial in range(3000):
        path = "/again" if serial % 3 == 0 else f"/{serial}"
        tally.add("/<n>", "/", path, serial, None, {})
    (family,) = tally.families()
    assert len(family.newest) == NEWEST_KEPT
    assert family.newest[:3] == ("/2999", "/2998", "/again")
    assert family.repeated == (("/again", 1000),)


def test_few_files_are_asked_for_and_fewer_kept() -> None:
    tally = Tally()
    tally.add("/f", "/", "/f", 1, None, {"tmpfs": 4096})
    asked = 0
    while tally.wants_file("/f", "tmpfs"):
        asked += 1
        tally.add_file("/f", "tmpfs", "/same")
    assert asked == 32
    for number in range(9):
        tally.add_file("/f", "tmpfs", f"/{number}")
    assert len(tally.families()[0].pins[0].files) == FILES_KEPT


def test_empty_directories_are_bounded_too() -> None:
    tally = Tally()
    for number in range(FAMILIES_MAX + 10):
        tally.add_empty(f"/p{number}", f"/p{number}")
    directories = tally.empty()
    assert directories[0] == DirectoryFamily("/<other>", 10, ("/p1000", "/p1001", "/p1002"))
    assert sum(one.directories for one in directories) == FAMILIES_MAX + 10
