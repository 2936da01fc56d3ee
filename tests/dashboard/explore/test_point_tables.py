"""Tables of the page: what is copied out of them."""

import io
from types import SimpleNamespace

import numpy as np
import pandas as pd

from dashboard.explore.point_tables import chosen_csv


def test_the_chosen_points_are_copied_without_formulas():
    labels = ["=cmd()", "a", "@SUM(A1)", "b"]
    table = pd.DataFrame({"label": labels, "y1": [-1.5, 2.0, -3.0, 4.0]})
    explorer = SimpleNamespace(run=SimpleNamespace(table=lambda: table), chosen=np.array([2, 0, 1]))
    text = chosen_csv(explorer)
    copied = pd.read_csv(io.StringIO(text))
    assert copied["label"].tolist() == ["'=cmd()", "a", "'@SUM(A1)"]
    assert copied["y1"].tolist() == [-1.5, 2.0, -3.0]
