"""Frequent words out of far too many to list, from reports of `PrefixExtendingMethod` or `TreeHist`.

heavy_hitters   the words that many people have, with their shares
HeavyHitters    what it finds, with the trace of the search
Level           one step of the search
PEMCollector    keeps the reports of `PrefixExtendingMethod`: 8 bytes per user, mergeable
"""
