"""Processes whose /tmp never answers."""

import time

from running import arguments, burst, in_memory

ends, _, _ = arguments()
while time.monotonic() < ends:
    burst(in_memory)
