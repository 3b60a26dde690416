"""The flight recorder: sensors, perf and writer wired together."""
