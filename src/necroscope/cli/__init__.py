"""One thin file per verb: parse arguments, call one function, hand the value to one renderer."""
