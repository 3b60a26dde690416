"""Files of other people's processes: opened by one child, read by another, never by the recorder.

    recorder ──request──▶ opener ──descriptors──▶ parser ──names──▶ recorder

`opener` opens with the rights of the process it opens for, and waits where a file makes it wait. `parser` reads what it
is handed and can do nothing else. `pipeline` runs both, ends what does not answer in time, and never waits for an end.
"""
