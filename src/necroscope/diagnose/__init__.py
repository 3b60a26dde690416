"""Values -> findings. No I/O."""
