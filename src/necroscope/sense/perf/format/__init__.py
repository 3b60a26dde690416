"""The format of perf streams and files: headers, attributes, records as columns."""
