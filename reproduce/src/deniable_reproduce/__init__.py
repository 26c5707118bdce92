"""Every table, figure and numbered example of the sources, reproduced by one command, ours beside the published.

Artifact, Published, Claim, Verdict   what one is made of, and how it is judged
Run                                   size, recorded randomness and data of one computation
"""

from deniable_reproduce.artifact import Artifact, Claim, MissingData, Published, Result, Run
from deniable_reproduce.verdict import Verdict

__all__ = ["Artifact", "Claim", "MissingData", "Published", "Result", "Run", "Verdict"]
