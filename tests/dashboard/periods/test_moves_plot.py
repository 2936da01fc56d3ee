"""Arrows of two periods, and the names beside them."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np

from core.scene.labels import LETTER
from dashboard.periods._moves_plot import NAMED, MovesFigure


def test_names_of_arrows_that_end_side_by_side_do_not_overlap():
    n, places = 60, np.random.default_rng(0)
    ends = np.vstack([places.normal(size=(50, 2)), np.full((10, 2), 1.5)])
    ends[50:] += np.arange(10)[:, None] * [0.02, 0.01]
    drawn = MovesFigure(height=400)
    found = {name: np.arange(n) * 1.0 for name in ("excess", "moved", "q", "kwh_per_week")}
    homes = np.array([f"home {i}" for i in range(n)])
    drawn.show(SimpleNamespace(households=homes, y_first=-ends, y_second=ends, **found))
    data = drawn.most.data
    assert sorted(data["home"]) == sorted(homes[-NAMED:])
    per_pixel = max(np.ptp(np.vstack([ends, -ends]), axis=0)) / 480
    middles = np.column_stack(
        [data["x1"] / per_pixel + data["name_x"], data["y1"] / per_pixel - data["name_y"]]
    )
    sizes = np.array([[len(home), 1] for home in data["home"]]) * LETTER
    for one, other in combinations(range(NAMED), 2):
        apart = np.abs(middles[one] - middles[other])
        assert (apart >= (sizes[one] + sizes[other]) / 2 - 1e-6).any()
