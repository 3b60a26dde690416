"""Where verdicts are handed to, beside the timeline and the log. None of it can hold up a recording.

queue.py          a bounded queue, a thread and a pause that grows, for each sink
http.py           one POST with an end in time, whatever answers
alertmanager.py   a verdict as Alertmanager's alerts
command.py        a program that is given the verdict on its standard input
profile.py        the profile around a symptom, for a command that wants it
made.py           sinks as the settings name them
"""
