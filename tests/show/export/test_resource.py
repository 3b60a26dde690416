"""What a profile is of, and the names of frames without a function."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from opentelemetry.proto.profiles.v1development import profiles_pb2

from necroscope.query.samples.sample_counts import SampleCounts, Task
from necroscope.show.export import folded, otlp, pprof
from necroscope.show.export.resource import resource
from necroscope.show.frame_label import frame_label
from necroscope.store.bundle.recording import packed_on
from stage.exported import source

UNNAMED = "main\x1fapp\x1e[unknown]\x1flibfoo.so\x1e[unknown]\x1f[kernel]\x1e[unknown]\x1f[unknown]\x1e"


def counts() -> SampleCounts:
    columns = (np.array([0]), np.array([0]), np.array([0]), np.array([3]), np.array([3e9]))
    return SampleCounts(((0, 9),), (Task(5, 6, "worker", "/a"),), (UNNAMED,), *columns, event="cpu-clock")


def test_the_node_is_told_in_the_words_of_the_convention() -> None:
    assert resource("node7", "6.8.0", "x86_64", {}) == {
        "service.name": "necroscope",
        "host.name": "node7",
        "host.arch": "amd64",
        "os.type": "linux",
        "os.version": "6.8.0",
    }
    assert resource("", "", "", {}) == {"service.name": "necroscope", "os.type": "linux"}


def test_the_environment_counts_more() -> None:
    environment = {
        "OTEL_RESOURCE_ATTRIBUTES": "host.name=a%20b,k8s.node.name=n7,=x,odd",
        "OTEL_SERVICE_NAME": "training",
    }
    found = resource("node7", "", "aarch64", environment)
    assert found["host.name"] == "a b"
    assert found["k8s.node.name"] == "n7"
    assert found["service.name"] == "training"
    assert found["host.arch"] == "arm64"


def test_otlp_has_the_resource(store: Path) -> None:
    made = source(store)
    made.resource = {"host.name": "node7", "os.type": "linux"}
    file = io.BytesIO()
    otlp.write(made, file)
    (profiles,) = profiles_pb2.ProfilesData.FromString(file.getvalue()).resource_profiles
    assert {one.key: one.value.string_value for one in profiles.resource.attributes} == made.resource


def test_a_bundle_tells_its_host(tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    assert packed_on(store) == ("", "")
    manifest = {"schema": "necroscope.bundle/1", "packed_on": {"hostname": "node7", "osrelease": "6.8.0"}}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    assert packed_on(store) == ("node7", "6.8.0")
    for odd in ("", "[]", "{}", json.dumps({**manifest, "schema": "other/1"})):
        (tmp_path / "manifest.json").write_text(odd)
        assert packed_on(store) == ("", "")


@pytest.mark.parametrize(
    ("name", "module", "label"),
    [
        ("read", "libc.so.6", "read"),
        ("[unknown]", "libfoo.so", "[libfoo.so]"),
        ("[unknown]", "[kernel]", "[kernel]"),
        ("[unknown]", "[unknown]", "[unknown]"),
        ("[unknown]", "", "[unknown]"),
        ("", "libfoo.so", "[libfoo.so]"),
        ("", "", ""),
    ],
)
def test_a_frame_without_a_name_is_called_after_its_module(name: str, module: str, label: str) -> None:
    assert frame_label(name, module) == label


def test_exports_name_the_module_of_unnamed_frames() -> None:
    assert list(folded.lines(counts())) == ["worker;main;[libfoo.so];[kernel]_[k];[unknown] 3"]
    *_, last = pprof.parts(counts())
    assert [last.string_table[one.name] for one in last.function] == ["main", "[libfoo.so]", "[kernel]", "[unknown]"]
