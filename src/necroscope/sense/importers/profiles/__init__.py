"""Binary and folded profiles: perf.data, pprof, folded stacks."""
