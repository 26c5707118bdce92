"""`deniable completion`: the script with which a shell completes commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")


@click.command(short_help="Print a script that completes commands in your shell.")
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the completion script of SHELL, for its start-up file.

    \b
    bash   eval "$(deniable completion bash)"   in ~/.bashrc
    zsh    eval "$(deniable completion zsh)"    in ~/.zshrc
    fish   deniable completion fish > ~/.config/fish/completions/deniable.fish
    """
    from deniable.cli.app import main

    maker = get_completion_class(shell)
    assert maker is not None
    click.echo(maker(main, {}, "deniable", "_DENIABLE_COMPLETE").source())
