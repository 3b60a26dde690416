"""One rule per module; rules() in engine.py lists them."""
