"""The message types of pprof's `profile.proto` (package perftools.profiles), declared for the protobuf runtime.

No package on the usual index carries them, and generated code would tie us to one version of the runtime. Numbers,
names and types of the fields are an interface: those of https://github.com/google/pprof/blob/main/proto/profile.proto,
Copyright 2016 Google Inc., licensed under the Apache License, Version 2.0. Fields that we do not write are left out,
which protobuf allows.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from necroscope.show.export.runtime import protobuf

_FILE = "necroscope/pprof/profile.proto"
_PACKAGE = "perftools.profiles"
# Fields as `number name type`; a type with [] repeats, one with a capital letter is a message of this file.
_MESSAGES: dict[str, tuple[str, ...]] = {
    "Profile": (
        "1 sample_type ValueType[]",
        "2 sample Sample[]",
        "3 mapping Mapping[]",
        "4 location Location[]",
        "5 function Function[]",
        "6 string_table string[]",
        "9 time_nanos int64",
        "10 duration_nanos int64",
        "11 period_type ValueType",
        "12 period int64",
        "13 comment int64[]",
        "14 default_sample_type int64",
    ),
    "ValueType": ("1 type int64", "2 unit int64"),
    "Sample": ("1 location_id uint64[]", "2 value int64[]", "3 label Label[]"),
    "Label": ("1 key int64", "2 str int64", "3 num int64", "4 num_unit int64"),
    "Mapping": (
        "1 id uint64",
        "2 memory_start uint64",
        "3 memory_limit uint64",
        "4 file_offset uint64",
        "5 filename int64",
        "6 build_id int64",
        "7 has_functions bool",
    ),
    "Location": ("1 id uint64", "2 mapping_id uint64", "3 address uint64", "4 line Line[]"),
    "Line": ("1 function_id uint64", "2 line int64"),
    "Function": ("1 id uint64", "2 name int64", "3 system_name int64", "4 filename int64", "5 start_line int64"),
}


@cache
def profile_type() -> Any:
    """The class of `Profile` messages; `Unavailable` without the protobuf package."""
    runtime = protobuf()
    file = runtime.descriptor_pb2.FileDescriptorProto(name=_FILE, package=_PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field in fields:
            _declare(message, field)
    # A pool of our own: a program that has pprof's generated code loaded too must not find it declared twice.
    pool = runtime.descriptor_pool.DescriptorPool()
    pool.Add(file) if hasattr(pool, "Add") else pool.AddSerializedFile(file.SerializeToString())
    return runtime.message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.Profile"))


def _declare(message: Any, declared: str) -> None:
    number, name, kind = declared.split()
    base = kind.removesuffix("[]")
    field = message.field.add(name=name, number=int(number))
    field.label = field.LABEL_REPEATED if kind != base else field.LABEL_OPTIONAL
    if base[0].isupper():
        field.type, field.type_name = field.TYPE_MESSAGE, f".{_PACKAGE}.{base}"
    else:
        field.type = getattr(field, f"TYPE_{base.upper()}")
