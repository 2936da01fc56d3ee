"""Households of two tariffs, one of which uses more in the evening."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from small_dataset import write_dataset

from core.readings import Dataset

EVENING = slice(34, 44)


@dataclass(frozen=True)
class Town:
    """A dataset, and the households that use half a kWh more from 17:00 to 22:00."""

    dataset: Dataset
    evening: tuple[str, ...]
    others: tuple[str, ...]


@pytest.fixture(scope="package")
def town(tmp_path_factory) -> Town:
    """Twenty-four households, four weeks."""
    rng = np.random.default_rng(3)
    times = pd.date_range("2024-01-01", periods=28 * 48, freq="30min")
    frames, names = [], [f"H{number:02d}" for number in range(24)]
    for number, name in enumerate(names):
        kwh = rng.gamma(2.0, rng.uniform(0.1, 0.15), (28, 48))
        if number < 8:
            kwh[:, EVENING] += 0.5
        frames.append(pd.DataFrame({"household": name, "time": times, "kwh": kwh.ravel().round(3)}))
    dataset = write_dataset(tmp_path_factory.mktemp("town") / "town", pd.concat(frames))
    return Town(dataset, tuple(names[:8]), tuple(names[8:]))
