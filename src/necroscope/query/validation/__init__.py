"""Both sides of a change, read from a recording: the same facts as a case has, for two windows instead of a symptom.

windows.py   which change, and which times before and after it
side.py      what is known of one of them
"""
