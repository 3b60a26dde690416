"""Recordings and cases without the names that identify."""
