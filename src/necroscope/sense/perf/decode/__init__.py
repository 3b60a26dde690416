"""The decoder: bytes in, in pieces of any size; ordered samples and rows out."""
