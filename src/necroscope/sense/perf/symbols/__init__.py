"""Addresses to names: the kernel, files, code made at run time; and stacks made of them."""
