"""What the recorder tells Prometheus: numbers of this process's life, at most 300 series.

declared.py   every metric there is
slots.py      counters with a bounded number of label values
cores.py      which cores are saturated, and for how long
metrics.py    looks and events become numbers
server.py     the address that is scraped
file.py       the same for the textfile collector
"""
