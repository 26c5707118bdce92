"""`deniable joint survey`, `keys`, `answer` and `estimate`: what every joint survey needs. Nothing is imported until it is used."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.terminal import print_json
from deniable.errors import BadMessage, InvalidParameter
from deniable.surveys import USUAL_LIMIT

if TYPE_CHECKING:
    from deniable.studies import JointPrivacy, JointSurvey, Thresholds

ROLES = ("user", "member", "board")
survey_file = click.option("--survey", "path", type=Path, default=Path("survey.json"), metavar="FILE", help="The public document.")
name_option = click.option("--name", required=True, help="Your name in the survey.")
key_file = click.option("--key", type=Path, metavar="FILE", help="Your key; by default NAME.key.")
reports_file = click.option("--reports", type=Path, default=Path("reports.jsonl"), metavar="FILE", help="Where reports are.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
colluders_option = click.option(
    "--colluders", type=click.IntRange(0), default=1, show_default=True, help="Users who pool what they know."
)


@click.command(short_help="Make the public survey document.")
@click.option("--round", "round_name", required=True, help="The name of the round.")
@click.option("--epsilon", "-e", help="Privacy level against anyone who sees a report.")
@click.option("--epsilon-collusion", "collusion", help="Privacy level against a partner who shares their indicator.")
@click.option("--p", help="Instead: how often a user tells the truth, for example 3/4.")
@click.option("--rho", help="And the correlation, for example --rho=-1/6.")
@click.option("--users", "-n", type=click.IntRange(2), default=2, show_default=True, help="How many users you expect.")
@colluders_option
@survey_file
@json_option
def survey(
    round_name: str,
    epsilon: str | None,
    collusion: str | None,
    p: str | None,
    rho: str | None,
    users: int,
    colluders: int,
    path: Path,
    as_json: bool,
) -> None:
    """Write the public document of a joint survey, and say what it protects from whom. Experimental."""
    from deniable.studies import JointSurvey, joint_privacy, write_new

    asked = JointSurvey(round_name, _law(epsilon, collusion, p, rho))
    levels = joint_privacy(asked, colluders=colluders, users=users)
    write_new(path, asked.to_json() + "\n")
    print_json(_levels(levels)) if as_json else click.echo("\n".join(levels.words()))


def _levels(levels: JointPrivacy) -> dict[str, Any]:
    """The three levels; infinite ones are null."""
    numbers = {"marginal": levels.marginal, "secret_pairing": levels.secret_pairing, "known_pairing": levels.known_pairing}
    shown: dict[str, Any] = {f"epsilon_{name}": None if math.isinf(level) else level for name, level in numbers.items()}
    return {"users": levels.users, "colluders": levels.colluders, **shown, "words": levels.words()}


def _law(epsilon: str | None, collusion: str | None, p: str | None, rho: str | None) -> Thresholds:
    from deniable.core import Pair
    from deniable.studies import Thresholds, bounded_pair

    if epsilon is not None and collusion is not None and p is rho is None:
        return Thresholds.of_table(bounded_pair(epsilon, collusion))
    if epsilon is collusion is None and p is not None and rho is not None:
        return Thresholds.of_table(Pair.rounded(p, rho))
    raise InvalidParameter("the law must be given by --epsilon and --epsilon-collusion, or by --p and --rho")


@click.command(short_help="Make a key pair and take part.")
@name_option
@click.option("--role", type=click.Choice(ROLES), default="user", show_default=True, help="A member is one of the committee.")
@key_file
@survey_file
@json_option
def keys(name: str, role: str, key: Path | None, path: Path, as_json: bool) -> None:
    """Make a key pair: the private half stays in a file, the public half goes into the survey."""
    from deniable.studies import Identity, JointSurvey, write_new

    identity = Identity.new()
    changed, part = _with_key(JointSurvey.load(path), role, name, identity.public)
    write_new(key or Path(f"{name}.key"), identity.to_bytes().hex() + "\n", 0o600)
    replacement = path.with_suffix(".new")
    replacement.write_text(changed.to_json() + "\n", encoding="utf-8")
    replacement.replace(path)
    document = {"name": name, "role": role, "public_key": identity.public.hex()}
    print_json(document) if as_json else click.echo(f"{name} {part}; public key {document['public_key']}")


def _with_key(asked: JointSurvey, role: str, name: str, public: bytes) -> tuple[JointSurvey, str]:
    if role == "member":
        asked = replace(asked, committee=(*asked.committee, public))
        return asked, f"is member {len(asked.committee)} of the committee"
    if role == "board":
        if asked.board is not None:
            raise InvalidParameter("the survey has a board already")
        return replace(asked, board=public), "keeps the record"
    return asked.with_user(name, public), "takes part"


@click.command(short_help="Answer with the partner; the private bit is read from standard input.")
@name_option
@click.option("--relay", default="127.0.0.1:7455", show_default=True, metavar="HOST:PORT", help="Where the relay is.")
@click.option("--timeout", type=float, default=30, show_default=True, help="Seconds for the whole conversation.")
@click.option("--ledger", type=Path, metavar="FILE", help="What you have spent; by default NAME.ledger.")
@click.option("--limit", default=str(USUAL_LIMIT), show_default=True, help="The most that all your answers may cost together.")
@click.option("--trust-partner", is_flag=True, help="Count only what strangers learn: the partner will not share their indicator.")
@colluders_option
@key_file
@survey_file
@reports_file
@json_option
def answer(
    name: str,
    relay: str,
    timeout: float,
    ledger: Path | None,
    limit: str,
    trust_partner: bool,
    colluders: int,
    key: Path | None,
    path: Path,
    reports: Path,
    as_json: bool,
) -> None:
    """Say what the answer costs, draw it with the partner, and append the report. Experimental.

    The cost is written into the ledger before anything is drawn. A survey that costs more than your limit is refused,
    and so is a second answer in the same round.
    """
    from deniable.studies import JointSurvey, address, answer_jointly, joint_privacy, read_identity
    from deniable.surveys import Ledger

    asked, identity = JointSurvey.load(path), read_identity(key or Path(f"{name}.key"))
    host, port = address(relay)
    book = Ledger(ledger or Path(f"{name}.ledger"), limit=limit)
    levels = joint_privacy(asked, colluders=colluders)
    # Shown before the answer is read: who does not like the numbers can still stop.
    click.echo("\n".join(levels.words()), err=as_json)
    answered = answer_jointly(
        asked,
        name,
        _private_bit(),
        identity,
        ledger=book,
        host=host,
        port=port,
        seconds=timeout,
        trust_partner=trust_partner,
    )
    with reports.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"round": asked.round_name, "output": answered.output}) + "\n")
    if as_json:
        print_json({**_levels(levels), "report": answered.output, "together": answered.together, "reason": answered.reason})
        return
    how = f"drawn with the partner, {answered.traffic} bytes" if answered.together else f"answered alone: {answered.reason}"
    click.echo(f"report {answered.output} ({how})")


def _private_bit() -> int:
    if sys.stdin.isatty():
        click.echo("your private answer (0 or 1): ", nl=False)
    private = sys.stdin.readline().strip()
    if private not in ("0", "1"):
        raise InvalidParameter("the private answer must be 0 or 1; it is not shown because it is private")
    return int(private)


@click.command(short_help="Estimate from the reports.")
@survey_file
@reports_file
@json_option
def estimate(path: Path, reports: Path, as_json: bool) -> None:
    """Estimate from the reports how many users have a 1."""
    from deniable.studies import JointSurvey, estimate_ones

    asked = JointSurvey.load(path)
    outputs = _outputs(reports, asked.round_name)
    n, ones = len(outputs), sum(outputs)
    if n < 2:
        raise BadMessage("an estimate needs at least two reports of this round")
    estimated = estimate_ones(asked.thresholds.table, ones, n, leftover=n % 2 == 1)
    count, error = float(estimated.value[1]), float(estimated.standard_error[1])
    if as_json:
        print_json({"reports": n, "ones": ones, "users": count, "standard_error": error})
    else:
        click.echo(f"{n} reports, {ones} of them 1: about {count:.2f} users have a 1, standard error {error:.2f}")


def _outputs(path: Path, round_name: str) -> list[int]:
    outputs = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as missing:
        raise InvalidParameter("the file of reports cannot be read") from missing
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            if set(record) != {"round", "output"} or type(record["output"]) is not int or record["output"] not in (0, 1):
                raise ValueError
        except (ValueError, TypeError, RecursionError) as broken:
            raise BadMessage(f"line {number} is not a report") from broken
        if record["round"] == round_name:
            outputs.append(record["output"])
    return outputs
