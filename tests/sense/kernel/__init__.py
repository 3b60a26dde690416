"""A kernel for tests: its BTF and its memory, built in Python."""
