"""perf: one process, its stream of bytes, and what the bytes mean."""
