"""Check-ins of two cities, from research data that this package does not contain: give the directory that holds the files.

chicago_checkins.csv    Gowalla check-ins in Chicago: 36,094 of 3,990 users at 1,000 places
tokyo_checkins.csv      Foursquare check-ins in Tokyo: 29,114 of 101 users at 7,798 places
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from deniable.errors import InvalidParameter
from deniable.studies import BoundingBox, CityRegion, Loaded, read_paths

CHECKSUMS = {
    "chicago_checkins.csv": "bd5307898d8a08e51f67086e1fc055c50531a46d092f4f66a2a5921792c1df8c",
    "tokyo_checkins.csv": "5821055ae6bc5cf84439c51c691915adbabe4f3b46af3c3dc9045151504e0955",
}
CHICAGO = CityRegion(BoundingBox(-88.0, 41.6, -87.5, 42.0))
"""A public box around the city that holds all check-ins of the file."""
TOKYO = CityRegion(BoundingBox(139.46, 35.5, 139.92, 35.88))


def chicago_checkins(directory: str | Path) -> Loaded:
    """One path per user, in time order, in degrees; `CHICAGO.project(loaded.paths)` gives metres."""
    return _checked(directory, "chicago_checkins.csv")


def tokyo_checkins(directory: str | Path) -> Loaded:
    """One path per user, in time order, in degrees; `TOKYO.project(loaded.paths)` gives metres."""
    return _checked(directory, "tokyo_checkins.csv")


def _checked(directory: str | Path, name: str) -> Loaded:
    path = Path(directory) / name
    try:
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        raise InvalidParameter(f"the directory has no file {name}; it comes with the papers' research data") from None
    if digest != CHECKSUMS[name]:
        raise InvalidParameter(f"{name} is not the known file (its checksum differs); read other files with read_paths")
    return read_paths(path)
