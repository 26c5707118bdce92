"""`deniable joint`: correlated answers in pairs, from the numbers to the answers of real users."""

from __future__ import annotations

import click

from deniable.cli.joint_account import account
from deniable.cli.joint_answers import answer, estimate, keys, survey
from deniable.cli.joint_round import board, check, committee, member, pair, relay


@click.group(short_help="Experimental: correlated answers in pairs.")
def joint() -> None:
    """Randomize answers in pairs, so that the two errors tend to cancel. Experimental.

    The two-party protocol trusts both sides to follow it: a partner whose program cheats can fix your coin and so read
    your answer.

    \b
    deniable joint account --users 10000 --ones 100 --epsilon 1 --epsilon-collusion 2
    deniable joint survey --round monday --epsilon 1 --epsilon-collusion 2
    deniable joint keys --name ada
    deniable joint relay
    deniable joint answer --name ada
    deniable joint estimate
    """


for command in (account, survey, keys, answer, estimate, pair, check, board, member, relay, committee):
    joint.add_command(command)
