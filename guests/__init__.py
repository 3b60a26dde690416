"""Guests: Debian's kernels in QEMU, for what one machine's own kernel cannot show. Not part of the package."""
