"""One picture for every mechanism: which kind is decided by what it reports."""

from __future__ import annotations

from typing import Any

import altair as alt

from deniable._results import counted
from deniable.charts.density import density_chart
from deniable.charts.heat import heat_chart
from deniable.charts.place_law import place_chart, walk_chart
from deniable.charts.sets import set_chart
from deniable.charts.theme import COLOURS, inline, themed, unthemed
from deniable.charts.turns import turn_chart
from deniable.core import (
    Ball,
    Binary,
    Categories,
    Circle,
    Interval,
    ItemSet,
    KeyValue,
    Mechanism,
    Points,
    Record,
    Text,
    Trajectory,
    Whole,
)

MOST_FIELDS = 6


def mechanism_chart(mechanism: Mechanism) -> Any:
    """What reports look like: bars or densities for numbers, a rose for directions, colours for categories, a map for places.

    Records are drawn field by field. Everything but maps of very many cells and paths is computed from the mechanism's own weights;
    those are simulated, and say so.
    """
    domain = mechanism.domain
    if isinstance(domain, Binary | Categories):
        return _levels(mechanism) if mechanism.parts else heat_chart(mechanism)
    if isinstance(domain, Circle):
        return turn_chart(mechanism, telling_values(domain))
    if isinstance(domain, Interval):
        # A mechanism that may publish the raw value beside another mechanism's report looks like that other one.
        inner = getattr(mechanism, "mechanism", None)
        return _beside_raw(mechanism, inner) if isinstance(inner, Mechanism) else density_chart(mechanism, telling_values(domain))
    if isinstance(domain, Record):
        return _fields(mechanism)
    if isinstance(domain, Text | Whole):
        return _groups(mechanism)
    if isinstance(domain, ItemSet | KeyValue):
        return set_chart(mechanism)
    if isinstance(domain, Ball):
        return _book(mechanism)
    if isinstance(domain, Trajectory):
        return walk_chart(mechanism, _walk(domain))
    return place_chart(mechanism, telling_place(domain))


def telling_values(domain: Interval | Circle) -> list[float]:
    """Three private values: an end, three tenths, three quarters."""
    low, width = float(domain.low), float(domain.width)
    return [low, low + round(width * 0.3, 12), low + round(width * 0.75, 12)]


def telling_place(domain: Any) -> Any:
    """A private place left of and below the middle of the cells, so that no symmetry hides anything."""
    if isinstance(domain, Points):
        return domain.decode(domain.size // 3)
    spots = [domain.decode(int(domain.size * share)) for share in (0.0, 0.999999)]
    near = tuple(low + 0.35 * (high - low) for low, high in zip(*spots, strict=True))
    return domain.decode(domain.encode(domain.clip(near)))


def _walk(domain: Trajectory) -> list[Any]:
    """A path across the space."""
    space: Any = domain.space
    first, last = space.decode(0), space.decode(space.size - 1)
    steps = max(domain.length - 1, 1)
    shares = [0.15 + 0.7 * i / steps for i in range(domain.length)]
    return [tuple(a + share * (b - a) for a, b in zip(first, last, strict=True)) for share in shares]


def _fields(mechanism: Any) -> Any:
    """One picture per field, side by side."""
    parts = list(mechanism.parts.items())[:MOST_FIELDS]
    charts = [unthemed(mechanism_chart(part), f"{name}: {part.name} at ε = {float(part.privacy):.4g}") for name, part in parts]
    rest = len(mechanism.parts) - len(parts)
    more = f"; {rest} more fields are not drawn" if rest else ""
    wide = alt.hconcat(*charts, spacing=40).resolve_scale(color="independent")
    title = f"{mechanism.name} at ε = {mechanism.privacy} for the whole record"
    return themed(wide, title=title, subtitle=f"field by field, as the collector sees it{more}")


def _levels(mechanism: Any) -> Any:
    """A tree, level by level: its reports are far too many for one table."""
    parts = list(mechanism.parts.items())[:MOST_FIELDS]
    charts = [unthemed(mechanism_chart(part), f"{name}: {part.domain.size} blocks by {part.name}") for name, part in parts]
    wide = alt.hconcat(*charts, spacing=40).resolve_scale(color="independent")
    rest = len(mechanism.parts) - len(parts)
    more = f"; {counted(rest, 'finer level')} not drawn" if rest else ""
    subtitle = f"a public coin chooses a level, and the block of categories there is reported with all of ε{more}"
    return themed(wide, title=f"{mechanism.name} at ε = {mechanism.privacy}", subtitle=subtitle)


def _beside_raw(mechanism: Any, inner: Mechanism) -> Any:
    chart = density_chart(inner, telling_values(inner.domain))  # type: ignore[arg-type]
    title = f"{mechanism.name} at ε = {mechanism.privacy}"
    warning = f"with probability {float(mechanism.delta):g} the raw value itself is published; otherwise {inner.name}, drawn here"
    return themed(unthemed(chart, ""), title=title, subtitle=warning)


def _groups(mechanism: Any) -> Any:
    """Words: how likely each group is, and whether its report speaks for the word's own prefix."""
    rows = []
    levels = [f"first {kept} bits" for kept in mechanism.levels] + ["whole word, to count it"]
    total = sum(mechanism.channel.shares)
    for group, (label, share) in enumerate(zip(levels, mechanism.channel.shares, strict=True)):
        part = mechanism.part(group)
        own = part.favoured / part.total * share / total
        rows += [
            {"group": label, "probability": own, "what": "supports the word's own prefix", "order": 0},
            {"group": label, "probability": share / total - own, "what": "does not", "order": 1},
        ]
    last = mechanism.part(len(levels) - 1)
    p, q = last.favoured / last.total, last.sets.members / last.outputs
    chart = (
        alt.Chart(inline(rows))
        .mark_bar()
        .encode(
            y=alt.Y("group:N", title="what the group is asked for", sort=levels),
            x=alt.X("probability:Q", title="probability", axis=alt.Axis(format=".0%")),
            color=alt.Color(
                "what:N",
                title="the report",
                sort=[rows[0]["what"], rows[1]["what"]],
                scale=alt.Scale(range=[COLOURS[0], "#cccccc"]),
            ),
            order="order:Q",
        )
        .properties(width=560, height=40 * len(levels))
    )
    title = f"{mechanism.name} at ε = {mechanism.privacy}"
    return themed(
        chart,
        title=title,
        subtitle=f"within a group, a report supports the word's own prefix with p = {p:.4g}, any other with q = {q:.4g} on average",
    )


def _book(mechanism: Any) -> Any:
    """Vectors: how often the nearest code words are sent, and how often they would be without a vector."""
    sets, channel = mechanism.sets, mechanism.channel
    groups = [f"one of the {sets.nearest} nearest words", f"one of the {sets.codes - sets.nearest} others"]
    own, chance = channel.favoured / channel.total, sets.nearest / sets.codes
    rows = [
        {"word": group, "what": what, "probability": probability}
        for what, pair in (("for this vector", (own, 1 - own)), ("by chance", (chance, 1 - chance)))
        for group, probability in zip(groups, pair, strict=True)
    ]
    chart = (
        alt.Chart(inline(rows))
        .mark_bar()
        .encode(
            y=alt.Y("word:N", title="what is sent", sort=groups),
            yOffset=alt.YOffset("what:N", sort=["for this vector", "by chance"]),
            x=alt.X("probability:Q", title="probability", axis=alt.Axis(format=".0%")),
            color=alt.Color(
                "what:N", title=None, sort=["for this vector", "by chance"], scale=alt.Scale(range=[COLOURS[0], "#cccccc"])
            ),
        )
        .properties(width=560, height=160)
    )
    error = (mechanism.error() / mechanism.domain.reach**2) ** 0.5
    return themed(
        chart,
        title=f"{mechanism.name} at ε = {mechanism.privacy}, {mechanism.domain.dimension} dimensions",
        subtitle=f"read as a vector, one report is about {error:.3g} radii away from the true vector",
    )
