"""The recorder as a service: who supervises it, what it logs, what it hands out beside its recording.

supervisor.py   systemd: readiness, watchdog, reloading
log.py          which things are worth a line, and how many of them
line_writer.py  the lines on their way to standard error, without ever waiting
"""
