"""What an unprivileged user of a node can do to the recorder: programs that do it, and a campaign that counts what
comes of it. `make attack` runs all of them for ten minutes; `tests/real/record/test_attacks.py` for some seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"


@dataclass(frozen=True, slots=True)
class Attack:
    """One program: `python NAME.py SECONDS FOLDER SECRET`. `hung_tmp`: with a hung FUSE mount as its /tmp, as somebody
    who may mount one for others (`user_allow_other`) can have. `told`: what must be found in the events."""

    name: str
    what: str
    told: str = ""
    hung_tmp: bool = False


ATTACKS = (
    Attack("unfolding_names", "a map of 658-letter names that unfold to gigabytes"),
    Attack("growing_map", "a map of 16 MiB, written anew all the time"),
    Attack("linked_map", "a map that is a link to a file of root"),
    Attack("device_map", "maps that are FIFOs, folders and links to devices"),
    Attack("section_names", "a file of 1.3 MB with 4,096 section names of 1 MiB"),
    Attack("symbol_tables", "thousands of symbol tables over the same bytes"),
    Attack("many_symbols", "files with millions of symbols"),
    Attack("many_files", "a new mapped file every few milliseconds"),
    Attack("forged_kernel", "a file called [kernel] with a function default_idle"),
    Attack("separators", "names that hold the separators of stored stacks"),
    Attack("deep_long_names", "chains of 120 frames with names of 500 letters, another one in each sample"),
    Attack("hung_tmp", "a /tmp that never answers", "the opener timed out", hung_tmp=True),
)
