"""Stores as earlier versions of the program wrote them."""

from __future__ import annotations

import json
from pathlib import Path

from necroscope.store.format.manifest import NAME
from necroscope.store.read.catalog import Segment, all_segments, parse_segment
from necroscope.store.read.rollups import rollups


def without_manifest(segment: Segment) -> Segment:
    """The segment as format version 1 has it: without a manifest, and with a name that tells of none."""
    (segment.path / NAME).unlink()
    older = parse_segment(segment.path.rename(segment.path.with_name(segment.path.name.rpartition("-")[0])))
    assert older is not None
    return older


def first_version(store: Path) -> Path:
    """A whole store as format version 1 has it."""
    for segment in (*all_segments(store), *rollups(store)):
        without_manifest(segment)
    (store / "format.json").write_text(json.dumps({"store": "necroscope", "version": 1}) + "\n")
    return store
