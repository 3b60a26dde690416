"""One scenario a file."""
