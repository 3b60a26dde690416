"""Cores: their time, speed, interrupts, waiting tasks and pressure."""
