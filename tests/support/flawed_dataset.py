"""A small dataset with something to report: gaps, rejected readings, names that look like HTML."""

from pathlib import Path

import pandas as pd
from small_dataset import random_readings

from core.readings import Dataset, ingest

HOSTILE = "<img src=x onerror=window.hacked=1>"
FILE = "meters <i>.csv"


def flawed_readings() -> pd.DataFrame:
    """Four weeks of twelve households.

    H02 lacks 20 January, H03 goes by another name, H05 and H06 end after three days and after
    one night.
    """
    readings = random_readings(households=12, days=28)
    kept = ~((readings["household"] == "H05") & (readings["time"] >= "2024-01-06"))
    kept &= ~((readings["household"] == "H06") & (readings["time"] >= "2024-01-03 05:00"))
    kept &= ~((readings["household"] == "H02") & (readings["time"].dt.day == 20))
    readings = readings[kept]
    return readings.assign(household=readings["household"].replace({"H03": HOSTILE}))


def ingest_flawed(folder: Path) -> Dataset:
    """Ingest them with thirty that stand there twice, and three at the end that are rejected."""
    readings = flawed_readings()
    text = readings.assign(kwh=readings["kwh"].astype(str), time=readings["time"].astype(str))
    bad = pd.DataFrame(
        {
            "household": ["H00", "H00", "H01"],
            "time": "2024-02-01 00:00:00",
            "kwh": ["<b>bold</b>", "Null", "-3"],
        }
    )
    pd.concat([text, text.iloc[100:130], bad]).to_csv(folder / FILE, index=False)
    return ingest([folder / FILE], folder / "dataset")
