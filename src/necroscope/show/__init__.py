"""Values -> eyes and machines. Nothing to its left prints."""
