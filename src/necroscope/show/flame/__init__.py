"""Flame graphs, drawn: SVG and terminal."""
