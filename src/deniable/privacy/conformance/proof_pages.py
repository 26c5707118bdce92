"""The proof of a mechanism whose law is known already, written from the integers of its channel.

A mechanism with a new law needs a page of its own; one that favours a set, weighs a table or flips bits does not: why those are
private is always the same, and only the integers differ.
"""

from __future__ import annotations

from typing import NamedTuple

from deniable.core import Mechanism
from deniable.errors import NotSupported


class Law(NamedTuple):
    """The inequality between the integers of a compiled channel, and why it is enough."""

    inequality: str
    because: str


COLUMNS = (
    "All rows of weights have one sum, so an output is as much likelier for one input than for another as its weights say: at most "
    "the largest weight of its column over the smallest. The left side is the largest such ratio, and it is attained."
)
LAWS = {
    "two-level": Law(
        "high / low <= e^epsilon",
        "Every input favours equally many outputs, so all rows have one sum. An output weighs `high` or `low`, whatever the input: "
        "no ratio exceeds `high / low`, and an output that is favoured by one input and not by another attains it.",
    ),
    "bits": Law(
        "own * (scale - other) / (other * (scale - own)) <= e^epsilon",
        "The bits are independent, and two inputs differ in the law of two of them: one is favoured by the first input, the other "
        "by the second. The ratio is largest where the former is 1 and the latter 0.",
    ),
    "nested": Law(
        "max(weights) / min(weights) <= e^epsilon",
        "Windows move with the input and keep their sizes, so all rows have one sum; an output has one of the listed weights.",
    ),
    "table": Law("max(max(column) / min(column) for column in columns(rows)) <= e^epsilon", COLUMNS),
    "profile": Law("max(max(column) / min(column) for column in columns(table)) <= e^epsilon", COLUMNS),
}


def proof_page(kind: type[Mechanism]) -> str:
    """The page `proofs/<name>.md` of a mechanism, in the form that tests check against its certificates.

    >>> from deniable.core import KaryRandomizedResponse
    >>> "high / low <= e^epsilon" in proof_page(KaryRandomizedResponse)
    True
    """
    laws = {str(example.channel.compiled()["kind"]) for example in kind.examples()}
    if len(laws) != 1 or not laws <= set(LAWS) or any(example.delta for example in kind.examples()):
        raise NotSupported(
            f"the law of {kind.name} ({', '.join(sorted(laws))}) is not one of {', '.join(LAWS)}: "
            f"write proofs/{kind.name}.md by hand"
        )
    (name,) = laws
    law = LAWS[name]
    return f"""# {kind.name}

Written by `make generated` from the integers of its channel.

**Statement.** `{kind.__name__}` is ε-LDP; its exact level is the logarithm of the left side below.

```certificate
{law.inequality}
```

**Proof.** The channel is of the kind "{name}". {law.because} ∎

**Source.** {kind.source}.
"""
