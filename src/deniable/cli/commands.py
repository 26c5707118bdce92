"""Every command in one table: where it lives, what it is for, and examples. Nothing is imported until it is used."""

from __future__ import annotations

from dataclasses import dataclass

DESIGN, PERTURB, COLLECT, JUDGE, PROJECT = (
    "Design a mechanism",
    "Perturb and estimate",
    "Collect from devices",
    "Judge privacy and utility",
    "The project itself",
)
SECTIONS = (DESIGN, PERTURB, COLLECT, JUDGE, PROJECT)


@dataclass(frozen=True)
class Entry:
    """One command: `home` is the module and the name in it; `examples` stand under its help.

    A command with a `distribution` comes with that one, as an entry point of the group "deniable.commands".
    """

    home: str
    section: str
    summary: str
    examples: tuple[str, ...] = ()
    distribution: str = ""


COMMANDS: dict[str, Entry] = {
    "mechanisms": Entry(
        "mechanisms:mechanisms",
        DESIGN,
        "List all mechanisms.",
        ("deniable mechanisms --family numeric", "deniable mechanisms --json"),
    ),
    "show": Entry(
        "show:show",
        DESIGN,
        "Certificate, error and density of one mechanism.",
        (
            "deniable show window --epsilon 2 --domain interval:18,90",
            "deniable show k-rr --epsilon 1 --domain categories:yes,no --json",
        ),
    ),
    "plan": Entry(
        "plan:plan_command",
        DESIGN,
        "Which mechanism, how much epsilon, how many people.",
        (
            "deniable plan --task frequency --size 1000 --users 100000 --epsilon 1",
            "deniable plan --task mean --users 10000 --target-error 0.01",
        ),
    ),
    "design": Entry(
        "design:design",
        DESIGN,
        "The best mechanism for a question, with a certificate.",
        (
            "deniable design --workload prefix --size 16 --epsilon 1",
            "deniable design --domain interval --loss absolute --epsilon 2",
            "deniable design --domain circle --loss squared --epsilon 1",
        ),
    ),
    "extremal": Entry(
        "hypothesis_test:extremal_command",
        DESIGN,
        "The best reports for a hypothesis test, with a certificate.",
        ("deniable extremal 0.5,0.3,0.2 0.2,0.3,0.5 --epsilon 1",),
    ),
    "joint": Entry(
        "joint:joint",
        DESIGN,
        "Experimental: correlated answers in pairs.",
        ("deniable joint account --users 10000 --ones 100 --epsilon 1 --epsilon-collusion 2",),
    ),
    "randomize": Entry(
        "randomize:randomize",
        PERTURB,
        "Turn private values into private reports.",
        ("deniable randomize k-rr --epsilon 1 --domain categories:never,sometimes,often often never --output reports.csv",),
    ),
    "estimate": Entry(
        "estimate:estimate",
        PERTURB,
        "Estimate from files of reports, with honest uncertainty.",
        ("deniable estimate reports.csv", "deniable estimate reports.csv --json"),
    ),
    "trajectory": Entry(
        "trajectory:trajectory",
        PERTURB,
        "Paths: perturb them, compare mechanisms, draw maps.",
        ("deniable trajectory compare random:20x10 --epsilons 4,8",),
    ),
    "serve": Entry(
        "serve:serve", COLLECT, "Run a collector for surveys, with its dashboard.", ("deniable serve survey.toml --port 8000",)
    ),
    "submit": Entry(
        "submit:submit",
        COLLECT,
        "Randomize the rows of a file here and submit the reports.",
        (
            "deniable submit answers.csv --survey http://127.0.0.1:8000/v1/surveys/HASH",
            "deniable submit people.parquet --survey http://127.0.0.1:8000 --identity email",
        ),
    ),
    "watch": Entry(
        "watch:watch",
        COLLECT,
        "Live estimates of a survey in the terminal.",
        ("deniable watch http://127.0.0.1:8000/v1/surveys/HASH",),
    ),
    "export": Entry(
        "export:export",
        COLLECT,
        "Save a collector's reports or sums as a Parquet file.",
        ("deniable export http://127.0.0.1:8000 --accumulators -o sums.parquet",),
    ),
    "relay": Entry(
        "relay:relay",
        COLLECT,
        "Pass on reports that it cannot read, so that the collector does not see who sends.",
        ("deniable relay --gateway https://collector.example.org",),
    ),
    "ingest": Entry(
        "ingest:ingest",
        COLLECT,
        "Count files of wire batches, each exactly once.",
        ("deniable ingest batches --survey 3f2a9c01 --database sqlite:///collector.db",),
    ),
    "survey": Entry(
        "survey_commands:survey",
        COLLECT,
        "List, close, reopen and delete surveys; open the next round.",
        ("deniable survey list", "deniable survey next 3f2a9c01"),
    ),
    "disclose": Entry(
        "disclose:disclose",
        COLLECT,
        "One page about a survey's privacy, to be published.",
        ("deniable disclose http://127.0.0.1:8000 --output privacy.html",),
    ),
    "token": Entry(
        "token_commands:token",
        COLLECT,
        "Make, list and revoke tokens for the collector.",
        ("deniable token alice --role admin", "deniable token list", "deniable token revoke alice"),
    ),
    "account": Entry("account:account", JUDGE, "What was promised to a person, in all.", ("deniable account odds --epsilon 1",)),
    "audit": Entry(
        "audit:audit",
        JUDGE,
        "Check a privacy claim: of a recipe exactly, of any program by its draws.",
        ("deniable audit --recipe reports.csv.recipe.json",),
    ),
    "quantify": Entry(
        "quantify:quantify",
        JUDGE,
        "How often a model keeps its answer on perturbed input.",
        ("deniable quantify model.skops patients.csv --sensitive Age=0:100,BMI=10:60 --epsilons 1:8 --target 0.9",),
    ),
    "reproduce": Entry(
        "",
        JUDGE,
        "Reproduce the sources' tables, figures and examples.",
        ("deniable reproduce figure-5.8 --quick",),
        distribution="deniable-reproduce",
    ),
    "demo": Entry(
        "demo:demo", PROJECT, "Perturb public data locally and compare estimates with the truth.", ("deniable demo --headless",)
    ),
    "doctor": Entry(
        "doctor:doctor",
        PROJECT,
        "What is installed, what each extra adds, and how to get it.",
        ("deniable doctor", "deniable doctor --json"),
    ),
    "completion": Entry(
        "completion:completion",
        PROJECT,
        "A script that completes commands and options in your shell.",
        ("deniable completion bash",),
    ),
}
