"""Ordinary households to plant faults into."""

from dataclasses import replace

import numpy as np
import pytest

from core.anomalies import Weeks, read_weeks
from core.anomalies.faults import plant
from core.demo import make_demo


@pytest.fixture(scope="package")
def ordinary(tmp_path_factory) -> Weeks:
    """Twelve weeks of demo households without anomalies."""
    path = tmp_path_factory.mktemp("ordinary") / "demo"
    # Below sixty households the demo plants nothing; two datasets make enough of them.
    parts = [make_demo(path / str(seed), households=59, days=84, seed=seed) for seed in (3, 4)]
    weeks = [read_weeks(part) for part in parts]
    kwh = np.concatenate([part.kwh for part in weeks])
    return replace(weeks[0], kwh=kwh, households=tuple(f"h{row}" for row in range(len(kwh))))


@pytest.fixture(scope="package")
def plant_into():
    """Return weeks with a fault in one household, and what was planted."""

    def make(weeks: Weeks, row: int, kind: str, severity: str, onset: str):
        planted = plant(weeks.kwh[row], kind, severity, onset, np.random.default_rng(row))
        kwh = weeks.kwh.copy()
        kwh[row] = planted.kwh
        return replace(weeks, kwh=kwh), planted

    return make
