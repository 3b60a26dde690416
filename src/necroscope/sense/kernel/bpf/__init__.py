"""Kernel memory in bulk through BPF: programs, their assembler, the system call."""
