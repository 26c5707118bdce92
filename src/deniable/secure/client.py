"""The commands of a two-terminal survey: make a survey, make keys, answer with a partner, estimate.

python -m deniable.secure.client --help
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from fractions import Fraction
from pathlib import Path

from deniable.channels.pair import Pair
from deniable.errors import BadMessage, DeniableError, InvalidParameter
from deniable.secure.answering import answer_jointly
from deniable.secure.encryption import Identity
from deniable.secure.survey import JointSurvey
from deniable.secure.thresholds import Thresholds


def make_survey(chosen: argparse.Namespace) -> None:
    """Write the public document, and say what it protects from whom."""
    if chosen.epsilon is not None and chosen.epsilon_collusion is not None and chosen.p is chosen.rho is None:
        from deniable.joint import bounded_pair

        law = Thresholds.of_table(bounded_pair(chosen.epsilon, chosen.epsilon_collusion))
    elif chosen.epsilon is chosen.epsilon_collusion is None and chosen.p is not None and chosen.rho is not None:
        law = Thresholds.of_table(Pair.rounded(chosen.p, chosen.rho))
    else:
        raise InvalidParameter("the law must be given by --epsilon and --epsilon-collusion, or by --p and --rho")
    survey = JointSurvey(chosen.round, law)
    _write_new(chosen.survey, survey.to_json() + "\n", 0o644)
    print(privacy(survey))


def make_keys(chosen: argparse.Namespace) -> None:
    """Make a key pair and enter the public half into the survey."""
    survey = JointSurvey.load(chosen.survey)
    identity = Identity.new()
    survey = survey.with_user(chosen.name, identity.public)
    _write_new(chosen.key or Path(f"{chosen.name}.key"), identity.to_bytes().hex() + "\n", 0o600)
    replacement = chosen.survey.with_suffix(".new")
    replacement.write_text(survey.to_json() + "\n", encoding="utf-8")
    replacement.replace(chosen.survey)
    print(f"{chosen.name} takes part; public key {identity.public.hex()}")


def answer(chosen: argparse.Namespace) -> None:
    """Answer the question with the partner, append the report, and say how it went."""
    survey = JointSurvey.load(chosen.survey)
    identity = _identity(chosen.key or Path(f"{chosen.name}.key"))
    host, _, port = chosen.relay.rpartition(":")
    if not host or not port.isdecimal():
        raise InvalidParameter("relay must be HOST:PORT")
    if sys.stdin.isatty():
        print("your private answer (0 or 1): ", end="", flush=True)
    private = sys.stdin.readline().strip()
    if private not in ("0", "1"):
        raise InvalidParameter("the private answer must be 0 or 1; it is not shown because it is private")
    found = answer_jointly(survey, chosen.name, int(private), identity, host=host, port=int(port), seconds=chosen.timeout)
    with chosen.reports.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"round": survey.round_name, "output": found.output}) + "\n")
    how = f"drawn with the partner, {found.traffic} bytes" if found.together else f"answered alone: {found.reason}"
    print(f"report {found.output} ({how})")


def estimate(chosen: argparse.Namespace) -> None:
    """How many users have a 1, from the reports."""
    from deniable.joint import estimate_ones

    survey = JointSurvey.load(chosen.survey)
    outputs = _outputs(chosen.reports, survey.round_name)
    n, ones = len(outputs), sum(outputs)
    if n < 2:
        raise BadMessage("an estimate needs at least two reports of this round")
    found = estimate_ones(survey.thresholds.table, ones, n, leftover=n % 2 == 1)
    count, error = float(found.value[1]), float(found.standard_error[1])
    print(f"{n} reports, {ones} of them 1: about {count:.2f} users have a 1, standard error {error:.2f}")


def _outputs(path: Path, round_name: str) -> list[int]:
    found = []
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
            found.append(record["output"])
    return found


def privacy(survey: JointSurvey) -> str:
    """What the law of a survey protects, in words."""
    law = survey.thresholds
    known = law.known_pairing_ratio
    collusion = "without bound: a colluding partner can learn your answer outright" if known is None else f"{_log(known):.4f}"
    return (
        f"epsilon {_log(law.marginal_ratio):.4f} against whoever sees your report\n"
        f"epsilon {collusion} against a partner who shares his indicator; the pairing is public"
    )


def _log(ratio: Fraction) -> float:
    return math.log(ratio.numerator) - math.log(ratio.denominator)


def _identity(path: Path) -> Identity:
    try:
        return Identity.from_bytes(bytes.fromhex(path.read_text(encoding="utf-8").strip()))
    except (OSError, ValueError) as broken:
        raise InvalidParameter("the key file cannot be read; make it with: client keys") from broken


def _write_new(path: Path, text: str, mode: int) -> None:
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as there:
        raise InvalidParameter(f"{path.name} exists already; it is not overwritten") from there


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    top = argparse.ArgumentParser(prog="python -m deniable.secure.client", description="Answer a question in pairs.")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    survey = commands.add_parser("survey", help="make the public survey document")
    survey.add_argument("--round", required=True)
    survey.add_argument("--epsilon", help="against whoever sees a report")
    survey.add_argument("--epsilon-collusion", help="against a partner who shares his indicator")
    survey.add_argument("--p", help="instead: truth probability, for example 3/4")
    survey.add_argument("--rho", help="and correlation, for example --rho=-1/6")
    survey.set_defaults(run=make_survey)
    keys = commands.add_parser("keys", help="make a key pair and take part")
    keys.set_defaults(run=make_keys)
    reply = commands.add_parser("answer", help="answer with the partner; the private bit is read from standard input")
    reply.add_argument("--relay", default="127.0.0.1:7455", metavar="HOST:PORT")
    reply.add_argument("--timeout", type=float, default=30, help="seconds for the whole conversation")
    reply.set_defaults(run=answer)
    count = commands.add_parser("estimate", help="estimate from the reports")
    count.set_defaults(run=estimate)
    for command in (survey, keys, reply, count):
        command.add_argument("--survey", type=Path, default=Path("survey.json"), metavar="FILE")
    for command in (keys, reply):
        command.add_argument("--name", required=True)
        command.add_argument("--key", type=Path, metavar="FILE", help="by default NAME.key")
    for command in (reply, count):
        command.add_argument("--reports", type=Path, default=Path("reports.jsonl"), metavar="FILE")
    return top


def main(arguments: list[str] | None = None) -> int:
    """The command; 1 when it failed."""
    chosen = parser().parse_args(arguments)
    try:
        chosen.run(chosen)
    except DeniableError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
