"""What `why` shows.

document.py   JSON             story.py     for people: answer.py, actions.py, evidence.py, tables.py in this order
groups.py     for --all        brief.py     the same on one screen        pictures.py   a core, and growth, over time
"""
