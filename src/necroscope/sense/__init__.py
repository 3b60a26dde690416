"""Kernel, log and sockets -> rows. One kernel interface per module; parsers take bytes, readers take a `Host`."""
