"""Facts about leaks, read from a recording."""
