"""Maps that are links to a file that only root may read."""

import time

from running import arguments, with_map

ends, _, secret = arguments()
while time.monotonic() < ends:
    with_map(lambda path: path.symlink_to(secret))
