"""Joint randomized response: two users lie together, so that their errors cancel. Honest about collusion."""
