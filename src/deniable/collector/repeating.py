"""How much the reports of several windows say together, when devices repeat what they keep.

With `permanent` a device sends the same report in every window, and with `kept:…` reports around the same kept answer. Such reports
are not independent: w of them say as much as w / (1 + (w - 1) c) reports of different people, where c is how much of their noise
two of them have in common. So estimates of all windows together are worked out from that many reports in the same proportions. A
device has at most one report in every window.
"""

from __future__ import annotations

from dataclasses import replace

from deniable.collector.steps import Published
from deniable.surveys import Survey


def without_repetition(survey: Survey, shown: Published) -> Published:
    """The same, with as many reports in the whole as there would be without repetition."""
    often = 1 + (max(shown.periods, 1) - 1) * survey.noise_in_common
    return shown if often == 1 else replace(shown, whole=shown.whole.fewer(1 / often))
