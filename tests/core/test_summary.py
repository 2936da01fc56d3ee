from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.anomalies import Anomalies, Finding
from core.cube import Cube
from core.density import HDR
from core.embedding import Embedding
from core.groups.compare import GroupComparison
from core.groups.demand import Demand
from core.neighbors import Neighbors
from core.over_time.paths import Paths
from core.over_time.two_periods import PeriodComparison
from core.over_time.watch import Watch
from core.placement import SavedMap
from core.placement.new_points import Placement
from core.readings import Dataset
from core.runs import Run
from core.segments.find import Segments
from core.summary import Summarized, in_short
from core.vector_map import VectorMap
from core.vectors import Vectors
from core.worklist.similar_symptoms import MoreLike

RESULTS = (
    *(Anomalies, Cube, Dataset, Demand, Embedding, Finding, GroupComparison, HDR, MoreLike),
    *(Neighbors, Paths, PeriodComparison, Placement, Run, SavedMap, Segments, VectorMap, Vectors),
    Watch,
)


@dataclass(frozen=True, repr=False)
class Thing(Summarized):
    x: Any
    notices: tuple[str, ...] = ()
    extra: Any = None


def test_arrays_and_tables_are_told_by_their_sizes():
    table = pd.DataFrame({"a": range(1200)})
    assert repr(Thing(np.zeros((3, 4), np.int8))) == "<Thing x: 3 × 4 int8>"
    assert repr(Thing(table, extra=Thing(1))) == "<Thing x: 1,200 × 1 table; extra: Thing>"


@pytest.mark.parametrize("result", RESULTS)
def test_what_the_library_returns_is_told_in_short(result):
    assert result.__repr__ is Summarized.__repr__


def test_what_is_long_is_cut():
    assert in_short("a" * 60) == "a" * 60
    assert in_short("a" * 61) == "a" * 59 + "…"
    assert in_short({"a": "b" * 60}) == "1 entries"
    assert in_short({"a": 1}) == "{'a': 1}"


def test_html_is_escaped():
    html = Thing("<script>alert(1)</script>", notices=("a & b",))._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "a &amp; b" in html
