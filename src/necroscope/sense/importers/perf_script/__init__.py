"""Text of `perf script`."""
