"""Jobs: each a program that runs in a guest, as `python3 -m guests.jobs.NAME`; its exit status is its verdict."""
