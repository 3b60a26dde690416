"""JSON of mpstat and sadf."""
