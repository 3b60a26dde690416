"""Logs of the kernel, of systemd and of Ray, as text."""
