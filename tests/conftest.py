"""Settings of all tests."""

from __future__ import annotations

from hypothesis import settings

# The first call of a kernel compiles it, and the machine may be busy: time is not what properties are about.
settings.register_profile("deniable", deadline=None, derandomize=True)
settings.load_profile("deniable")
