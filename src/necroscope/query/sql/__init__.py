"""SQL over a store: DuckDB in this process, on documented views.

DuckDB may be left out of an installation that only records: then this raises `Unavailable`, and nothing else does.
"""

from importlib.util import find_spec

from necroscope.errors import Unavailable

if find_spec("duckdb") is None:
    raise Unavailable("SQL needs DuckDB, which is not installed here", "pip install duckdb")
