"""What becomes of jobs: their logs are followed, and those that stand still are noticed.

logs.py      lines of Ray's logs become events
stalled.py   a GPU that does nothing with its memory held, progress that stopped
"""
