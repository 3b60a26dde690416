"""SQL over a store: DuckDB in this process, on documented views."""
