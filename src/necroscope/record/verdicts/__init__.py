"""The recorder explains by itself: a symptom is asked about as soon as its data are there.

allowance.py   CPU time that verdicts may take, averaged over an hour
waiting.py     which symptoms wait to be asked about, and which are the same again
worker.py      the child that answers one question, within limits of its own
child.py       starting it, reading its answer, ending it
pronounced.py  a verdict as it is handed out: to the timeline, the log, metrics and sinks
asking.py      the thread that does it all, one question at a time
"""
