"""Stores as readers see them: what is there, whether it is intact, sums over hours."""
