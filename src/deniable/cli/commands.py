"""Every command in one table: where it lives, what it is for, and examples. Nothing is imported until it is used."""

from __future__ import annotations

from dataclasses import dataclass

CORE, COLLECTOR, RESEARCH, PROJECT = (
    "Start here",
    "Run a collector",
    "Research",
    "This installation",
)
SECTIONS = (CORE, COLLECTOR, RESEARCH, PROJECT)


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
    "plan": Entry(
        "plan:plan_command",
        CORE,
        "Choose a mechanism, epsilon and the number of people.",
        (
            "deniable plan --task frequency --size 1000 --users 100000 --epsilon 1",
            "deniable plan --task mean --users 10000 --target-error 0.01",
        ),
    ),
    "show": Entry(
        "show:show",
        CORE,
        "Show one mechanism: its promise, its error, its picture.",
        (
            "deniable show window --epsilon 2 --domain interval:18,90",
            "deniable show k-rr --epsilon 1 --domain categories:yes,no --json",
        ),
    ),
    "randomize": Entry(
        "randomize:randomize",
        CORE,
        "Turn private values into private reports.",
        ("deniable randomize k-rr --epsilon 1 --domain categories:never,sometimes,often often never --output reports.csv",),
    ),
    "estimate": Entry(
        "estimate:estimate",
        CORE,
        "Turn reports into estimates with intervals.",
        ("deniable estimate reports.csv", "deniable estimate reports.csv --json"),
    ),
    "serve": Entry(
        "serve:serve", CORE, "Run a collector for surveys, with its dashboard.", ("deniable serve survey.toml --port 8000",)
    ),
    "submit": Entry(
        "submit:submit",
        CORE,
        "Randomize the rows of a file here and submit the reports.",
        (
            "deniable submit answers.csv --survey http://127.0.0.1:8000/v1/surveys/HASH",
            "deniable submit people.parquet --survey http://127.0.0.1:8000 --identity email",
        ),
    ),
    "watch": Entry(
        "watch:watch",
        CORE,
        "Follow the estimates of a survey in the terminal.",
        ("deniable watch http://127.0.0.1:8000/v1/surveys/HASH",),
    ),
    "audit": Entry(
        "audit:audit",
        CORE,
        "Test a privacy claim: a recipe exactly, any program by its output.",
        ("deniable audit --recipe reports.csv.recipe.json",),
    ),
    "account": Entry("account:account", CORE, "Add up what a person was promised.", ("deniable account odds --epsilon 1",)),
    "survey": Entry(
        "survey_commands:survey",
        COLLECTOR,
        "List, close, reopen and delete surveys; open the next round.",
        ("deniable survey list", "deniable survey next 3f2a9c01"),
    ),
    "token": Entry(
        "token_commands:token",
        COLLECTOR,
        "Make, list and revoke tokens for the collector.",
        ("deniable token alice --role admin", "deniable token list", "deniable token revoke alice"),
    ),
    "export": Entry(
        "export:export",
        COLLECTOR,
        "Save a collector's reports or sums as a Parquet file.",
        ("deniable export http://127.0.0.1:8000 --accumulators -o sums.parquet",),
    ),
    "ingest": Entry(
        "ingest:ingest",
        COLLECTOR,
        "Count files of reports, each exactly once.",
        ("deniable ingest batches --survey 3f2a9c01 --database sqlite:///collector.db",),
    ),
    "relay": Entry(
        "relay:relay",
        COLLECTOR,
        "Forward encrypted reports, so that the collector does not see who sends.",
        ("deniable relay --gateway https://collector.example.org",),
    ),
    "issuer": Entry(
        "issuer:issuer",
        COLLECTOR,
        "Give every invited person tokens that do not name them.",
        ("deniable issuer --new-key issuer.pem", "deniable issuer --key issuer.pem --invitations codes.txt"),
    ),
    "shuffle": Entry(
        "shuffle:shuffle",
        COLLECTOR,
        "Mix encrypted reports, and pass them on in batches.",
        ("deniable shuffle --new-key analyst.key", "deniable shuffle https://collector.example.org/v1/surveys/HASH"),
    ),
    "wallet": Entry(
        "wallet:wallet",
        COLLECTOR,
        "Fetch and count the tokens of one person.",
        ("deniable wallet fetch http://127.0.0.1:8000 --wallet wallet.db --code CODE",),
    ),
    "disclose": Entry(
        "disclose:disclose",
        COLLECTOR,
        "Write a page about a survey's privacy, for publication.",
        ("deniable disclose http://127.0.0.1:8000 --output privacy.html",),
    ),
    "mechanisms": Entry(
        "mechanisms:mechanisms",
        RESEARCH,
        "List all mechanisms.",
        ("deniable mechanisms --family numeric", "deniable mechanisms --json"),
    ),
    "compare": Entry(
        "compare:compare_command",
        RESEARCH,
        "Compare mechanisms over epsilon: one figure, one table.",
        ("deniable compare duchi pm hm laplace --epsilon 0.5:8 --task mean --metric mse --chart errors.svg",),
    ),
    "design": Entry(
        "design:design",
        RESEARCH,
        "Compute the best mechanism for a question, with a proof.",
        (
            "deniable design --workload prefix --size 16 --epsilon 1",
            "deniable design --domain interval --loss absolute --epsilon 2",
            "deniable design --domain circle --loss squared --epsilon 1",
        ),
    ),
    "extremal": Entry(
        "hypothesis_test:extremal_command",
        RESEARCH,
        "Compute the best reports for a hypothesis test.",
        ("deniable extremal 0.5,0.3,0.2 0.2,0.3,0.5 --epsilon 1",),
    ),
    "quantify": Entry(
        "quantify:quantify",
        RESEARCH,
        "Measure how often a model keeps its answer on perturbed input.",
        ("deniable quantify model.skops patients.csv --sensitive Age=0:100,BMI=10:60 --epsilon 1:8 --target 0.9",),
    ),
    "trajectory": Entry(
        "trajectory:trajectory",
        RESEARCH,
        "Perturb paths, compare mechanisms on them, draw maps.",
        ("deniable trajectory compare random:20x10 --epsilon 4,8",),
    ),
    "joint": Entry(
        "joint:joint",
        RESEARCH,
        "Experimental: correlated answers in pairs.",
        ("deniable joint account --users 10000 --ones 100 --epsilon 1 --epsilon-collusion 2",),
    ),
    "reproduce": Entry(
        "",
        RESEARCH,
        "Reproduce published tables and figures.",
        ("deniable reproduce figure-5.8 --quick",),
        distribution="deniable-reproduce",
    ),
    "demo": Entry(
        "demo:demo",
        PROJECT,
        "Perturb public data locally and compare estimates with the truth.",
        ("deniable demo", "deniable demo --serve"),
    ),
    "doctor": Entry(
        "doctor:doctor",
        PROJECT,
        "Show what is installed and what each extra adds.",
        ("deniable doctor", "deniable doctor --json"),
    ),
    "completion": Entry(
        "completion:completion",
        PROJECT,
        "Print a script that completes commands in your shell.",
        ("deniable completion bash",),
    ),
}
