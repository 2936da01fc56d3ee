"""Datasets of a few readings for tests, written as any other dataset is."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from core.readings import Dataset
from core.readings.dataset import READINGS_SCHEMA, new_dataset


def write_dataset(
    path: Path,
    readings: pd.DataFrame,
    *,
    interval_minutes: int = 30,
    row_group_size: int = 1000,
    households: list[str] | None = None,
) -> Dataset:
    """Write readings (``household``, ``time``, ``kwh``) as they come, in their own order."""
    ids = households or sorted(readings["household"].unique())
    codes = {name: code for code, name in enumerate(ids)}
    table = pa.table(
        [
            pa.array(readings["household"].map(codes).to_numpy(np.int32)),
            pa.array(readings["time"].to_numpy("datetime64[us]")),
            pa.array(readings["kwh"].to_numpy(np.float64)),
        ],
        schema=READINGS_SCHEMA,
    )
    counts = readings.groupby("household").size().reindex(ids, fill_value=0).to_numpy()
    none = np.zeros(len(ids), dtype=np.int64)
    with new_dataset(path) as draft:
        with draft.readings_writer() as writer:
            writer.write_table(table, row_group_size=row_group_size)
        draft.write_households(
            pa.table(
                {
                    "household": ids,
                    "input": counts,
                    "accepted": counts,
                    "collapsed": none,
                    "rejected": none,
                    "first": [readings["time"].min()] * len(ids),
                    "last": [readings["time"].max()] * len(ids),
                    "missing_share": np.zeros(len(ids)),
                }
            )
        )
        draft.write_health({})
        draft.facts["interval_minutes"] = interval_minutes
    return Dataset.open(path)


def random_readings(
    *, households: int = 3, days: int = 21, interval_minutes: int = 30, seed: int = 1
) -> pd.DataFrame:
    """Gamma demand in whole watt-hours with a daily rhythm, every household its own level."""
    rng = np.random.default_rng(seed)
    per_day = 24 * 60 // interval_minutes
    times = pd.date_range("2024-01-03", periods=days * per_day, freq=f"{interval_minutes}min")
    rhythm = 1.2 + np.sin(2 * np.pi * np.arange(len(times)) / per_day)
    frames = [
        pd.DataFrame(
            {
                "household": f"H{number:02d}",
                "time": times,
                "kwh": np.round(rng.gamma(2.0, 0.1 * (1 + number), len(times)) * rhythm, 3),
            }
        )
        for number in range(households)
    ]
    return pd.concat(frames, ignore_index=True)
