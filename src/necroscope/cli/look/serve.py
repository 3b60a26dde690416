"""`necroscope serve`."""

from __future__ import annotations

import threading
from pathlib import Path

import click

from necroscope.cli.shared.blindness import refuse_blank
from necroscope.cli.shared.sources import open_recording
from necroscope.errors import BadInput, Unavailable


@click.command()
@click.option("--store", type=click.Path(path_type=Path), help="Folder of the recording (default: $NECROSCOPE_STORE).")
@click.option("--bundle", type=click.Path(path_type=Path), help="Read a recording that `necroscope bundle` packed.")
@click.option("--listen", "address", default="127.0.0.1:7373", show_default=True, help="HOST:PORT; port 0: a free one.")
@click.option("--name", "names", multiple=True, help="Also answer requests for this host name (a proxy's).")
@click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Ask for the token in this file; beyond loopback, one is made up otherwise.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but the address.")
def serve(
    store: Path | None,
    bundle: Path | None,
    address: str,
    names: tuple[str, ...],
    token_file: Path | None,
    quiet: bool,
) -> None:
    """The page: the whole recording as a picture, any five seconds of it, and the verdict beside them.

    It changes nothing, and follows a recorder that is still writing. It listens on loopback; from your own machine,
    forward a port: `ssh -L 7373:localhost:7373 NODE`, then open http://localhost:7373/. Listening elsewhere, it asks
    for a token and does not encrypt.

    \b
    Examples:
      necroscope serve
      necroscope serve --bundle node7.ncb --listen 127.0.0.1:0
    """
    try:
        from necroscope.serve.app import application
        from necroscope.serve.opened import Opened, Source
        from necroscope.serve.run import Address, bound, listen, rules
    except ModuleNotFoundError as error:
        raise Unavailable(f"The page needs {error.name}.", "install it: pip install 'necroscope[serve]'") from error
    from necroscope.store.place import to_read

    at = Address.of(address)
    whom = rules(at, names, _token(token_file))
    with open_recording(store, bundle) as folder, bound(at) as listening:
        opened = Opened(Source(to_read(folder), str(bundle) if bundle is not None else ""))
        refuse_blank(opened.store)
        port = int(listening.getsockname()[1])

        def ready() -> None:
            threading.Thread(target=opened.read_ahead, daemon=True).start()
            click.echo(at.url(port, whom.token))
            if not quiet:
                _explain(at.loopback)

        listen(application(opened, whom), listening, ready)


def _token(file: Path | None) -> str:
    if file is None:
        return ""
    try:
        token = file.read_text("utf-8").strip()
    except (OSError, UnicodeError) as error:
        raise BadInput(f"{file} cannot be read.", "give a file with one line") from error
    if len(token) < 16 or not token.isascii() or not token.isprintable() or " " in token:
        raise BadInput(f"{file} holds no token.", "16 printable characters and more, without blanks")
    return token


def _explain(loopback: bool) -> None:
    if loopback:
        click.echo("open it in a browser; end with Ctrl-C", err=True)
        return
    click.echo("anybody who has this address, token and all, can read the recording", err=True)
    click.echo("warning: nothing is encrypted; put it behind a proxy with TLS, or forward a port with ssh", err=True)
