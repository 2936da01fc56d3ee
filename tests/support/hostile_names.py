"""Ids that people, databases and attackers have thought of, and a dataset of them."""

from pathlib import Path

import pandas as pd
from small_dataset import random_readings

from core.readings import Dataset, ingest

HTML = "<img src=x onerror=alert(1)>"
NAMES = (
    HTML,
    "</script><script>alert(2)</script>",
    "../x",
    "..\\x",
    "/etc/passwd",
    "=cmd()",
    "+SUM(1)",
    "@SUM(A1)",
    "007",
    "1e5",
    "émeu",  # composed
    "e\u0301meu",  # decomposed: another id
    "\u202eabc",  # right to left
    "عداد ١",
    "🔌 plug",
    "**a** `b` $c$",
    "{{7*7}} %s {0}",
    "a'b\"c",
    "x" * 10_000,
)
COLUMN = "<b onmouseover=alert(3)>tariff</b>"


def hostile_readings(*, households: int = 24, days: int = 56) -> pd.DataFrame:
    """Readings of households of which the first have these names."""
    readings = random_readings(households=households, days=days)
    names = {f"H{number:02d}": name for number, name in enumerate(NAMES)}
    return readings.assign(household=readings["household"].replace(names))


def ingest_hostile(folder: Path, *, households: int = 24, days: int = 56) -> Dataset:
    """Ingest them, with a table of what is known of them that is no better."""
    readings = hostile_readings(households=households, days=days)
    readings.to_csv(folder / "readings.csv", index=False)
    ids = readings["household"].unique()
    known = pd.DataFrame({"household": ids, COLUMN: [HTML, "flat"] * (len(ids) // 2)})
    known.to_csv(folder / "households.csv", index=False)
    return ingest([folder / "readings.csv"], folder / "dataset", metadata=folder / "households.csv")
