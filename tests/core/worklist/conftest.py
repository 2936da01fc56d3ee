"""The demo households, read and ranked once."""

from dataclasses import dataclass

import pytest

from core.anomalies import Anomalies, Weeks, rank_households, read_weeks
from core.readings import Dataset


@dataclass(frozen=True)
class Judged:
    """A dataset, its weeks and its anomalies."""

    dataset: Dataset
    weeks: Weeks
    anomalies: Anomalies


@pytest.fixture(scope="package")
def judged(demo_path) -> Judged:
    """Sixty households, eight weeks."""
    dataset = Dataset.open(demo_path)
    weeks = read_weeks(dataset)
    return Judged(dataset, weeks, rank_households(weeks, resamples=0))
