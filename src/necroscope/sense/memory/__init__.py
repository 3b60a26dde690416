"""Memory: sizes and what memory management had to do."""
