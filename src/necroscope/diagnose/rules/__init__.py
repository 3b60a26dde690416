"""One rule per module; RULES in engine.py lists them."""
