"""Events of a recording, and what people call them.

landmarks.py     symptoms and other events of a window
event_list.py    what `events` lists
event_names.py   what `--event` and `--kind` take: ids, short ids, kinds
"""
