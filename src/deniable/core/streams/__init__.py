"""Reports of one person over many periods: a channel with memory, whose law over all periods is a ratio of integers.

Stream            what every stream answers: what a device reports, the exact law, and the loss of a window, a lifetime and changes
FreshReports      a fresh report in every period
KeptAnswer        an answer drawn once for every value and kept, with fresh noise around it
KeptBits          a few buckets drawn once, and a kept noisy bit for each of them: d-bit flips
RandomPeriod      one report in a period that is drawn at random
TakingTurns       one report in every so many periods, everyone in a turn of their own
TreeOfChanges     changes of a yes or no, of which there are at most so many, summed up along a tree
WhenAsked         a report when the collector asks for one, within what a window of periods may cost
"""
