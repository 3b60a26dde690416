"""Which cores were starved before a symptom: kinds of starvation, what is quiet time, which ones are looked at."""
