"""Frequent words out of far too many to list, from reports of `PrefixExtending` or `TreeHist`.

heavy_hitters   the words that many people have, with their shares
HeavyHitters    what it finds, with the trace of the search
Level           one step of the search
PEMCollector    keeps the reports of `PrefixExtending`: 8 bytes per user, mergeable
"""

from deniable.estimators.heavy_hitters.collector import PEMCollector
from deniable.estimators.heavy_hitters.result import HeavyHitters, Level
from deniable.estimators.heavy_hitters.search import heavy_hitters

__all__ = ["HeavyHitters", "Level", "PEMCollector", "heavy_hitters"]
