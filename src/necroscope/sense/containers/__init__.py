"""Containers, as their engines report them."""
