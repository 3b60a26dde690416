"""The incident that the package ships: recorded by the lab on a real kernel, for machines that cannot make one.

A bundle of the seeds' incident, with the names of the recording machine replaced (docs/lab.md says how it was made).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

INCIDENT = "incident.ncb"


@contextmanager
def incident() -> Iterator[Path]:
    """The bundle as a file, for as long as it is read."""
    with resources.as_file(resources.files("necroscope.lab").joinpath(INCIDENT)) as path:
        yield path
