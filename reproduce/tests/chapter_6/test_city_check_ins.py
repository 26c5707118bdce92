"""The check-ins of two cities are the known files, in time order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable_reproduce.city_check_ins import CHICAGO, TOKYO, chicago_checkins, tokyo_checkins
from tests.outside_data import FOLDER, needs


@needs("chicago_checkins.csv", "tokyo_checkins.csv")
def test_the_check_ins_of_two_cities_are_in_time_order() -> None:
    chicago, tokyo = chicago_checkins(FOLDER), tokyo_checkins(FOLDER)
    assert (len(chicago.paths), len(chicago.paths.places)) == (3990, 36094)
    assert (len(tokyo.paths), len(tokyo.paths.places)) == (101, 29114)
    for city, loaded in ((CHICAGO, chicago), (TOKYO, tokyo)):
        fitted = city.project(loaded.paths)
        assert (fitted.clipped, fitted.dropped) == (0, 0)
        assert np.abs(city.degrees(fitted.paths).places - loaded.paths.places).max() < 1e-9
    # The file begins with user 1's check-in of December; the earliest is from April.
    assert tokyo.paths[0][0].tolist() != [139.77131187915802, 35.701001914939255]


def test_other_files_under_the_known_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="no file chicago_checkins"):
        chicago_checkins(tmp_path)
    (tmp_path / "chicago_checkins.csv").write_text("user,lat,lon\n", encoding="utf-8")
    with pytest.raises(InvalidParameter, match="checksum"):
        chicago_checkins(tmp_path)
