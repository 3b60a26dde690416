"""`necroscope completion`."""

from __future__ import annotations

import click

_SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(_SHELLS))
def completion(shell: str) -> None:
    """Print what makes a shell complete verbs, options, files and kinds of events.

    Kinds after --event and --kind are those that the program knows and those of the recording at hand.

    \b
    Examples:
      source <(necroscope completion bash)                   for this shell
      necroscope completion bash > /etc/bash_completion.d/necroscope
      necroscope completion zsh > ~/.zfunc/_necroscope       with ~/.zfunc in fpath
      necroscope completion fish > ~/.config/fish/completions/necroscope.fish
    """
    from click.shell_completion import get_completion_class

    from necroscope.cli.main import NAME, main

    kind = get_completion_class(shell)
    assert kind is not None
    made = kind(main, {}, NAME, f"_{NAME.upper()}_COMPLETE")
    # Not `source`, which would start a bash to ask for its version.
    click.echo(made.source_template % made.source_vars())
