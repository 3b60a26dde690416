"""Cgroups in a perf stream: tracepoints of their life, paths by id, storms of them in sums."""
