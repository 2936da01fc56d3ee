"""A run whose households are called what nobody should call them, for tests of exports."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from small_dataset import random_readings

from core.readings import Dataset
from core.readings.dataset import READINGS_SCHEMA, new_dataset

# As HTML, as formulas, with what ends a script, a parenthesis, a string; and in other alphabets.
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "=cmd|' /C calc'!A0",
    "</script><script>alert(1)</script>",
    "-5+3",
    "@SUM(A1)",
    "'quoted",
    'a "b", (c) \\ d',
    "Müller-ζ/../..",
    "007",
    "NA",
    "$x^2_$",
    "&lt;b&gt;",
)


def hostile_dataset(path: Path, *, days: int = 14) -> Dataset:
    """A dataset of `HOSTILE` households with metadata, some of which tells who they are."""
    readings = random_readings(households=len(HOSTILE), days=days)
    ids = sorted(HOSTILE)
    readings["household"] = readings["household"].map(
        dict(zip(sorted(readings["household"].unique()), ids, strict=True))
    )
    codes = {name: code for code, name in enumerate(ids)}
    counts = readings.groupby("household").size().reindex(ids).to_numpy()
    none = np.zeros(len(ids), np.int64)
    order = readings["household"].map(codes).argsort(kind="stable")
    readings = readings.iloc[order]
    table = pa.table(
        [
            pa.array(readings["household"].map(codes).to_numpy(np.int32)),
            pa.array(readings["time"].to_numpy("datetime64[us]")),
            pa.array(readings["kwh"].to_numpy(np.float64)),
        ],
        schema=READINGS_SCHEMA,
    )
    households = pd.DataFrame(
        {
            "household": ids,
            "input": counts,
            "accepted": counts,
            "collapsed": none,
            "rejected": none,
            "first": readings["time"].min(),
            "last": readings["time"].max(),
            "missing_share": 0.0,
            "=tariff": ["flat", "=night"] * 6,
            "address": [f"Secret Lane {number}" for number in range(12)],
            "meter": [f"of {name}" for name in ids],
            "rooms": [2, 3, 3] * 4,
        }
    )
    with new_dataset(path) as draft:
        with draft.readings_writer() as writer:
            writer.write_table(table)
        draft.write_households(pa.Table.from_pandas(households, preserve_index=False))
        draft.write_health({})
        draft.facts["interval_minutes"] = 30
    return Dataset.open(path)


def parquet_description(path: Path) -> bytes:
    """The description that a Parquet file carries."""
    return dict(pq.read_schema(path).metadata)[b"wattfold"]
