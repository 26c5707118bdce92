"""Movement data: many paths at once, their metrics, readers, baselines, and what a collector learns from them."""
