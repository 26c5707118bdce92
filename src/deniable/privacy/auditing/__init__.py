"""Is it as private as it says? Checks of integers, tests of draws, and attacks; `deniable.privacy` lists them."""
