"""Homes over time on the map: which dates are written along a path."""

import numpy as np

from dashboard.explore.map_paths import written_dates

PATH = np.column_stack([np.arange(9.0), np.zeros(9)])
NOWHERE = np.empty((0, 2))


def test_ends_come_first_and_dates_are_apart():
    assert written_dates(PATH, apart=0.5, named=NOWHERE).tolist() == [0, 8, 2, 4, 6]
    assert written_dates(PATH, apart=3.5, named=NOWHERE).tolist() == [0, 8, 4]


def test_names_of_homes_are_not_written_over():
    assert written_dates(PATH, apart=0.5, named=PATH[[8, 4]]).tolist() == [0, 2, 6]
    assert written_dates(PATH, apart=20, named=PATH[:1]).tolist() == []
