"""`python -m necroscope` is the same program as the console script."""

from necroscope.cli.main import run

run()
