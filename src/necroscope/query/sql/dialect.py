"""Users' SQL as DuckDB takes it: `at`, the time of every view, is a reserved word there since 2.0."""

from __future__ import annotations

from itertools import pairwise

import duckdb

from necroscope.errors import BadInput


def quoted_at(sql: str) -> str:
    """The query with every bare `at` quoted, but for `at time zone` and `at (version ...)`."""
    try:
        data = sql.encode()
        starts = [start for start, _ in duckdb.tokenize(sql)]
    except UnicodeEncodeError as error:
        raise BadInput("The query is no valid text.", "write it in UTF-8") from error
    except duckdb.Error:
        return sql
    tokens = [data[start:end] for start, end in pairwise([*starts, len(data)])]
    made = [data[: starts[0]] if starts else data]
    for token, after in pairwise([*tokens, b""]):
        word = token.rstrip().lower()
        reserved = after.rstrip().lower() == b"time" or after.startswith(b"(")
        made.append(b'"at"' + token[2:] if word == b"at" and not reserved else token)
    return b"".join(made).decode()
