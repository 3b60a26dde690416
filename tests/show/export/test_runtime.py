"""Packages that are not there are told in a sentence."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from necroscope.errors import Unavailable
from necroscope.show.export import otlp, pprof, runtime
from necroscope.show.export.pprof_messages import profile_type
from stage.exported import source


def test_without_protobuf(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "google.protobuf.descriptor_pb2", None)
    profile_type.cache_clear()
    with pytest.raises(Unavailable, match="needs the Python package protobuf") as error:
        pprof.write(source(store), io.BytesIO())
    assert error.value.hint == "pip install 'necroscope[export]'"
    assert error.value.exit_code == 3


def test_without_otlp(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.proto.profiles.v1development.profiles_pb2", None)
    with pytest.raises(Unavailable, match="opentelemetry-proto"):
        otlp.write(source(store), io.BytesIO())


def test_an_older_draft_of_otlp(monkeypatch: pytest.MonkeyPatch) -> None:
    old = SimpleNamespace(
        ProfilesDictionary=SimpleNamespace(DESCRIPTOR=SimpleNamespace(fields_by_name={"string_table": 1}))
    )
    monkeypatch.setitem(sys.modules, "opentelemetry.proto.profiles.v1development.profiles_pb2", old)
    with pytest.raises(Unavailable, match="older draft") as error:
        runtime.otlp()
    assert "--upgrade" in error.value.hint
