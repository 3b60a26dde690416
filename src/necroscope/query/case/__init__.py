"""One reading of a recording around a symptom: everything that is judged afterwards, as one frozen `Case`.

`read.py` puts it together. `cores/` finds the cores that were starved, `starvation/` reads what is known about one.
Nothing here judges: what a case means is the business of `diagnose`.
"""
