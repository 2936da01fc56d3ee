"""Paths and comparisons as they come back from the store."""

from dataclasses import fields, replace
from datetime import timedelta

import numpy as np
import pytest

from core.cube import build_day_table
from core.over_time import compare_periods, household_paths
from core.over_time.kept import keep_comparison, keep_paths, stored_comparison, stored_paths
from core.periods import Period
from core.placement.projection import Projection
from core.readings import Dataset
from core.runs import RunConfig, Runner, Store


@pytest.fixture(scope="module")
def dataset(demo_path):
    return Dataset.open(demo_path)


def test_paths_come_back_as_they_were_computed(dataset, tmp_path):
    config, store = RunConfig(), Store(tmp_path)
    runner = Runner(dataset, store=store)
    assert stored_paths(dataset, config, store) is None
    keep_paths(runner, config, store)
    kept = stored_paths(dataset, config, store)
    _, vectors = runner.inputs(config)
    projection = Projection.fit(vectors, runner.run(config).y)
    _, table = build_day_table(dataset, bins=config.bins)
    found = household_paths(dataset, config, projection, table)
    assert kept.step == found.step == "week"
    assert kept.households.tolist() == found.households.tolist()
    for name in ("dates", "y", "sample_sizes"):
        np.testing.assert_array_equal(getattr(kept, name), getattr(found, name))
    assert stored_paths(dataset, replace(config, k=7), store) is None


def test_comparisons_come_back_as_they_were_computed(dataset, tmp_path):
    first, last = dataset.first_and_last_day
    middle = first + (last - first) / 2
    config = RunConfig(last_day=str(middle))
    against, store = Period(first=middle + timedelta(days=1)), Store(tmp_path)
    assert stored_comparison(dataset, config, against, store) is None
    keep_comparison(dataset, config, against, store)
    kept = stored_comparison(dataset, config, against, store)
    found = compare_periods(dataset, config, against)
    for field in fields(found):
        np.testing.assert_array_equal(getattr(kept, field.name), getattr(found, field.name))
