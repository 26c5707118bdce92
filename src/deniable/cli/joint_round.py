"""`deniable joint pair`, `check`, `board`, `member`, `relay` and `committee`: who answers with whom, and how they meet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from deniable.cli.joint_answers import json_option, key_file, name_option, survey_file
from deniable.cli.terminal import counted, print_json
from deniable.errors import InvalidParameter

if TYPE_CHECKING:
    from deniable.studies import JointRandomness, JointSurvey

board_option = click.option(
    "--board", "place", default="127.0.0.1:7456", show_default=True, metavar="HOST:PORT", help="Where the board is."
)
paired_file = click.option("--paired", type=Path, default=Path("paired.json"), metavar="FILE", help="Where the result goes.")
record_file = click.option("--record", type=Path, default=Path("record.jsonl"), metavar="FILE", help="The public record.")
round_timeout = click.option("--timeout", type=float, default=600, show_default=True, help="Seconds for the whole round.")
host_option = click.option("--host", default="127.0.0.1", show_default=True, help="The interface to listen on.")


@click.command(short_help="Take part in the round that pairs everyone.")
@name_option
@board_option
@round_timeout
@key_file
@survey_file
@paired_file
@json_option
def pair(name: str, place: str, timeout: float, key: Path | None, path: Path, paired: Path, as_json: bool) -> None:
    """Take part in the round that pairs everyone, check all of it, and write the paired survey."""
    from deniable.studies import JointSurvey, address, read_identity, take_part, write_same

    asked, identity = JointSurvey.load(path), read_identity(key or Path(f"{name}.key"))
    host, port = address(place)
    told = take_part(asked, name, identity, host=host, port=port, seconds=timeout)
    result = asked.paired(told.round)
    write_same(paired, result.to_json() + "\n")
    partner = result.pairing().partner(name)
    if as_json:
        print_json({"name": name, "partner": partner, "record": told.fingerprint})
    else:
        click.echo(f"{name} answers " + ("alone" if partner is None else f"with {partner}") + f"; record {told.fingerprint}")


@click.command(short_help="Replay the public record.")
@record_file
@survey_file
@paired_file
@json_option
def check(record: Path, path: Path, paired: Path, as_json: bool) -> None:
    """Replay a public record, name anyone who broke the rules, and write the paired survey."""
    from deniable.studies import JointSurvey, replay, write_same

    asked = JointSurvey.load(path)
    try:
        with record.open(encoding="utf-8") as file:
            told = replay(asked.pairing_round, len(asked.committee), (line.rstrip("\n") for line in file))
    except (OSError, UnicodeDecodeError) as missing:
        raise InvalidParameter("the record cannot be read") from missing
    result = asked.paired(told.randomness)
    write_same(paired, result.to_json() + "\n")
    lines = _summary(asked, result, told.randomness)
    if as_json:
        print_json({"users": len(result.users), "pairs": len(result.pairing().pairs), "words": lines})
    else:
        click.echo("\n".join(lines))


def _summary(asked: JointSurvey, paired: JointSurvey, round_: JointRandomness) -> list[str]:
    pairing, absent = paired.pairing(), sorted(name for name in asked.users if round_.committed(name) is None)
    who = f"{counted(len(paired.users), 'user')} took part: {counted(len(pairing.pairs), 'pair')}"
    lines = [f"{who}, joint bytes {round_.result().hex()}"]
    lines += [f"excluded: {reason}" for _, reason in sorted(round_.excluded.items())]
    lines += [f"false reveal: {name} is excluded; the committee opened the true one" for name in sorted(round_.false_reveals)]
    lines += [f"opened by the committee: {name}" for name in sorted(round_.opened - round_.false_reveals)]
    lines += [f"member {member} gave a share that does not fit" for member in sorted(round_.liars)]
    lines += [f"never came: {', '.join(absent)}"] if absent else []
    left = [*pairing.left, *([] if pairing.alone is None else [pairing.alone])]
    return lines + [f"{name} answers alone" for name in left]


@click.command(short_help="Keep the public record of a round.")
@click.option("--key", type=Path, default=Path("board.key"), metavar="FILE", help="The board's key.")
@record_file
@click.option("--port", type=int, default=7456, show_default=True, help="The port to listen on; 0 takes any free one.")
@host_option
@click.option("--patience", type=float, default=60, show_default=True, help="Seconds to wait for those who are late or silent.")
@click.option("--linger", type=float, default=10, show_default=True, help="Seconds to stay for readers after the end.")
@survey_file
def board(key: Path, record: Path, port: int, host: str, patience: float, linger: float, path: Path) -> None:
    """Keep the public record of a round, close its phases, and hand sealed shares to the committee."""
    import asyncio

    from deniable.studies import Board, JointSurvey, read_identity, serve_board

    served = Board(JointSurvey.load(path), read_identity(key), record, host, port, patience)
    if not asyncio.run(serve_board(served, linger)):
        click.get_current_context().exit(1)


@click.command(short_help="Run one member of a round's committee.")
@click.option("--key", type=Path, required=True, metavar="FILE", help="The member's key.")
@board_option
@round_timeout
@survey_file
@json_option
def member(key: Path, place: str, timeout: float, path: Path, as_json: bool) -> None:
    """Hold a share of every contribution, and open those that are withheld."""
    from deniable.studies import JointSurvey, address, keep_shares, read_identity

    host, port = address(place)
    told = keep_shares(JointSurvey.load(path), read_identity(key), host=host, port=port, seconds=timeout)
    complaints, opened = len(told.complaints), len(told.opened)
    if as_json:
        print_json({"complaints": complaints, "opened": opened, "record": told.fingerprint})
    else:
        click.echo(f"{complaints} complaints, {opened} contributions opened; record {told.fingerprint}")


@click.command(short_help="Connect pairs of users.")
@click.option("--port", type=int, default=7455, show_default=True, help="The port to listen on; 0 takes any free one.")
@host_option
@click.option("--patience", type=float, default=60, show_default=True, help="Seconds to wait for a partner.")
def relay(port: int, host: str, patience: float) -> None:
    """Connect the users of a pair and forward what they say; the relay cannot read it."""
    import asyncio

    from deniable.studies import Relay, serve_relay

    asyncio.run(serve_relay(Relay(host, port, patience)))


@click.command(short_help="Pair users without learning the pairing: one process for each member.")
@click.option("--members", type=int, default=3, show_default=True, help="How many members the committee has.")
@click.option("--index", type=int, required=True, help="Which member this is, from 0.")
@click.option("--base-port", type=int, default=11400, show_default=True, help="The port of the first member; the others follow.")
@click.option("--input", "shares", type=Path, required=True, metavar="FILE", help="This member's shares.")
@click.option("--output", type=Path, required=True, metavar="FILE", help="Where the public rows go.")
@click.option("--timeout", type=float, default=300, show_default=True, help="Seconds, including the wait for the other members.")
@json_option
def committee(members: int, index: int, base_port: int, shares: Path, output: Path, timeout: float, as_json: bool) -> None:
    """Run one member of a committee that sorts secret keys; all of them run on one machine."""
    from deniable.studies import load_input, pair_within, save_rows

    rows = pair_within(timeout, members, index, base_port, *load_input(shares))
    save_rows(output, rows)
    print_json({"rows": len(rows), "output": str(output)}) if as_json else click.echo(f"{counted(len(rows), 'row')}: {output}")
