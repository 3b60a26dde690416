"""Heat maps, drawn: SVG and terminal."""
