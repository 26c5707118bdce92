"""What a survey's certificate says, and what an attacker can infer, in words and numbers."""

from __future__ import annotations

import math
from typing import Any

from deniable.collector.dashboard.poisoning import poisoning_of
from deniable.collector.dashboard.publication import publication_of
from deniable.core import hiding, meaning, show_fraction
from deniable.surveys import Survey, repeat_words

PRIORS = (0.01, 0.1, 0.5, 0.9)


def surest(prior: float, epsilon: float) -> tuple[float, float]:
    """The least and the most a belief can become after one report.

    >>> [round(bound, 3) for bound in surest(0.5, math.log(3))]
    [0.25, 0.75]
    """
    odds = math.exp(epsilon)
    return prior / (prior + (1 - prior) * odds), prior * odds / (prior * odds + 1 - prior)


def privacy_of(
    survey: Survey, reasons: dict[str, str] | None = None, *, needs_token: bool = False, kept: str = ""
) -> dict[str, Any]:
    """Everything the privacy page shows; `reasons` say why mechanisms were chosen, where the survey left that open.

    `needs_token` says whether this collector takes reports from bearers of tokens only, `kept` how long it keeps what it has.
    """
    why = reasons or {}
    certificate = survey.mechanism.certificate()
    epsilon, budget = float(survey.mechanism.privacy), float(survey.lifetime)
    answers = int(survey.lifetime / survey.mechanism.privacy.exact)
    return {
        "survey": survey.hash,
        "title": survey.title,
        "purpose": survey.purpose,
        "epsilon": show_fraction(survey.mechanism.privacy.exact),
        "odds": math.exp(epsilon),
        "budget": show_fraction(survey.lifetime),
        "budget_odds": math.exp(min(budget, 700.0)),
        "certificate": {
            "mechanism": certificate.mechanism,
            "fingerprint": certificate.fingerprint,
            "holds": certificate.holds,
            "inequality": _shortened(certificate.inequality),
            "epsilon_exact": certificate.epsilon_exact,
        },
        "parts": [
            {
                "name": attribute.name,
                "question": attribute.question,
                "mechanism": survey.parts[attribute.name].name,
                "domain": repr(survey.parts[attribute.name].domain),
                "epsilon": show_fraction(survey.parts[attribute.name].privacy.exact),
                "why": why.get(attribute.name),
            }
            for attribute in survey.attributes
        ],
        "beliefs": [_belief(prior, epsilon, budget) for prior in PRIORS],
        "hiding": hiding(survey.lifetime),
        "learns": _learns(survey, answers),
        "published": publication_of(survey, needs_token=needs_token),
        "kept": kept,
        "not_protected": _not_protected(survey),
        "poisoning": poisoning_of(survey),
    }


def _belief(prior: float, epsilon: float, budget: float) -> dict[str, float]:
    least, most = surest(prior, epsilon)
    lifetime_least, lifetime_most = surest(prior, min(budget, 700.0))
    return {"prior": prior, "least": least, "most": most, "lifetime_least": lifetime_least, "lifetime_most": lifetime_most}


def _learns(survey: Survey, answers: int) -> list[str]:
    together = None if survey.repeat == "once" else survey.lifetime
    sentences = [
        f"{meaning(survey.mechanism.privacy, together)} This holds whatever else an observer knows or computes, "
        "and for the operator of this collector as well.",
    ]
    if survey.strategy == "sample-one":
        sentences.append("The report says which question was picked, but a coin picked it, not the answer.")
    if survey.strategy == "split":
        shares = ", ".join(f"{name} {show_fraction(part.privacy.exact)}" for name, part in survey.parts.items())
        sentences.append(f"The questions share epsilon ({shares}); the sum is what the whole answer can give away.")
    if survey.repeat == "each-window":
        sentences.append(
            f"Somebody who can link the reports of one person sees up to {answers} of them; together they give away at most "
            f"{show_fraction(survey.lifetime)}, the budget, which the person's own device enforces."
        )
    if survey.turns is not None or survey.permanent is not None or survey.changes is not None:
        sentences.append(repeat_words(survey.repeat, survey.window))
    if survey.repeat == "permanent":
        sentences.append(
            "The same answer always gives the same report, so repeating tells nothing more. A changed answer costs epsilon again, "
            "and whoever can link two reports of one person sees that it changed."
        )
    return sentences


def _not_protected(survey: Survey) -> list[str]:
    sentences = [
        "That a person takes part: the network and the operator can see a device talking to this collector.",
        "What everybody has in common: the survey exists to learn that.",
        "A device whose software lies. Answer with a client you trust; the page served here comes from this collector.",
    ]
    if survey.keep_reports:
        sentences.append("This survey may keep single reports. Each one is private on its own at the level above.")
    return sentences


def _shortened(inequality: str, most: int = 160) -> str:
    """Ratios of records have hundreds of digits: the decimal part says as much."""
    if len(inequality) <= most:
        return inequality
    return "ratio = " + inequality.split(" = ", 1)[-1]
