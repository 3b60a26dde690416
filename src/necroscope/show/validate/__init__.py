"""A validation as text and as a JSON document."""
