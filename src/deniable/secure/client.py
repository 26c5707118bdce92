"""The commands of a joint survey: make it, make keys, be paired, answer with a partner, estimate.

python -m deniable.secure.client --help
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from deniable.channels.pair import Pair
from deniable.errors import BadMessage, DeniableError, InvalidParameter
from deniable.secure.answering import answer_jointly
from deniable.secure.encryption import Identity
from deniable.secure.files import read_identity, write_new, write_same
from deniable.secure.joint_randomness import JointRandomness
from deniable.secure.record import replay
from deniable.secure.survey import JointSurvey
from deniable.secure.taking_part import take_part
from deniable.secure.thresholds import Thresholds
from deniable.secure.transport import address


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
    write_new(chosen.survey, survey.to_json() + "\n")
    print(privacy(survey))


def make_keys(chosen: argparse.Namespace) -> None:
    """Make a key pair and enter the public half into the survey."""
    survey = JointSurvey.load(chosen.survey)
    identity = Identity.new()
    survey, part = _with_key(survey, chosen.role, chosen.name, identity.public)
    write_new(chosen.key or Path(f"{chosen.name}.key"), identity.to_bytes().hex() + "\n", 0o600)
    replacement = chosen.survey.with_suffix(".new")
    replacement.write_text(survey.to_json() + "\n", encoding="utf-8")
    replacement.replace(chosen.survey)
    print(f"{chosen.name} {part}; public key {identity.public.hex()}")


def _with_key(survey: JointSurvey, role: str, name: str, public: bytes) -> tuple[JointSurvey, str]:
    if role == "member":
        survey = replace(survey, committee=(*survey.committee, public))
        return survey, f"is member {len(survey.committee)} of the committee"
    if role == "board":
        if survey.board is not None:
            raise InvalidParameter("the survey has a board already")
        return replace(survey, board=public), "keeps the record"
    return survey.with_user(name, public), "takes part"


def pair(chosen: argparse.Namespace) -> None:
    """Take part in the round that pairs everyone, check all of it, and write the paired survey."""
    survey, identity = JointSurvey.load(chosen.survey), read_identity(chosen.key or Path(f"{chosen.name}.key"))
    host, port = address(chosen.board)
    told = take_part(survey, chosen.name, identity, host=host, port=port, seconds=chosen.timeout)
    paired = survey.paired(told.round)
    write_same(chosen.paired, paired.to_json() + "\n")
    partner = paired.pairing().partner(chosen.name)
    print(f"{chosen.name} answers " + ("alone" if partner is None else f"with {partner}") + f"; record {told.fingerprint}")


def check(chosen: argparse.Namespace) -> None:
    """Follow a public record again, name who broke the rules, and write the paired survey."""
    survey = JointSurvey.load(chosen.survey)
    try:
        with chosen.record.open(encoding="utf-8") as file:
            told = replay(survey.pairing_round, len(survey.committee), (line.rstrip("\n") for line in file))
    except (OSError, UnicodeDecodeError) as missing:
        raise InvalidParameter("the record cannot be read") from missing
    paired = survey.paired(told.randomness)
    write_same(chosen.paired, paired.to_json() + "\n")
    for line in summary(survey, paired, told.randomness):
        print(line)


def summary(survey: JointSurvey, paired: JointSurvey, round_: JointRandomness) -> list[str]:
    """What a round came to, in words."""
    pairing, absent = paired.pairing(), sorted(name for name in survey.users if round_.committed(name) is None)
    said = [f"{len(paired.users)} users took part: {len(pairing.pairs)} pairs, joint bytes {round_.result().hex()}"]
    said += [f"excluded: {reason}" for _, reason in sorted(round_.excluded.items())]
    said += [f"false reveal: {name} is excluded; the committee opened the true one" for name in sorted(round_.false_reveals)]
    said += [f"opened by the committee: {name}" for name in sorted(round_.opened - round_.false_reveals)]
    said += [f"member {member} gave a share that does not fit" for member in sorted(round_.liars)]
    said += [f"never came: {', '.join(absent)}"] if absent else []
    left = [*pairing.left, *([] if pairing.alone is None else [pairing.alone])]
    return said + [f"{name} answers alone" for name in left]


def answer(chosen: argparse.Namespace) -> None:
    """Answer the question with the partner, append the report, and say how it went."""
    survey = JointSurvey.load(chosen.survey)
    identity = read_identity(chosen.key or Path(f"{chosen.name}.key"))
    host, port = address(chosen.relay)
    if sys.stdin.isatty():
        print("your private answer (0 or 1): ", end="", flush=True)
    private = sys.stdin.readline().strip()
    if private not in ("0", "1"):
        raise InvalidParameter("the private answer must be 0 or 1; it is not shown because it is private")
    found = answer_jointly(survey, chosen.name, int(private), identity, host=host, port=port, seconds=chosen.timeout)
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
    keys.add_argument("--role", choices=("user", "member", "board"), default="user", help="member: of the committee")
    keys.set_defaults(run=make_keys)
    meet = commands.add_parser("pair", help="take part in the round that pairs everyone")
    meet.add_argument("--board", default="127.0.0.1:7456", metavar="HOST:PORT")
    meet.add_argument("--timeout", type=float, default=600, help="seconds for the whole round")
    meet.set_defaults(run=pair)
    again = commands.add_parser("check", help="follow the public record again")
    again.add_argument("--record", type=Path, default=Path("record.jsonl"), metavar="FILE")
    again.set_defaults(run=check)
    reply = commands.add_parser("answer", help="answer with the partner; the private bit is read from standard input")
    reply.add_argument("--relay", default="127.0.0.1:7455", metavar="HOST:PORT")
    reply.add_argument("--timeout", type=float, default=30, help="seconds for the whole conversation")
    reply.set_defaults(run=answer)
    count = commands.add_parser("estimate", help="estimate from the reports")
    count.set_defaults(run=estimate)
    for command in (survey, keys, meet, again, reply, count):
        command.add_argument("--survey", type=Path, default=Path("survey.json"), metavar="FILE")
    for command in (meet, again):
        command.add_argument("--paired", type=Path, default=Path("paired.json"), metavar="FILE", help="where the result goes")
    for command in (keys, meet, reply):
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
