"""Tracks: what signals did over time, pooled to the columns of a picture."""
