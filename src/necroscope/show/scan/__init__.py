"""A scan, shown: text and JSON."""
