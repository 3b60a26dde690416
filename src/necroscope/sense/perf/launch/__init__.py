"""How one perf is found, asked for what it can do, started and kept awake."""
