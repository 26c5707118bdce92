"""Are the tests any good? Small faults are planted in a part of the core, one at a time, and its tests have to notice.

    python -m tests.mutation --part exact --count 100 --seed 1

Nothing on disk changes: the faulty module exists only in the process that runs the tests.
"""
