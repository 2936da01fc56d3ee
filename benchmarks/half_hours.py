"""How many of the first half-hours of all households' weeks are planted ones.

    python benchmarks/half_hours.py [--households 3639] [--days 84] [--seed 2]

The score was designed on the demo data of seed 1.
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from core.anomalies import rank_half_hours, read_weeks
from core.demo import TRUTH, make_demo

RESULTS = Path(__file__).parent / "results" / "half_hours.md"
FIRST = (100, 1_000, 12_227)


def lift_table(households: int, days: int, seed: int) -> Iterator[str]:
    """Rank all half-hours and compare the first ones with the truth."""
    with tempfile.TemporaryDirectory() as scratch:
        dataset = make_demo(Path(scratch) / "demo", households=households, days=days, seed=seed)
        truth = pd.read_parquet(dataset.path / TRUTH)
        weeks = read_weeks(dataset)
    table = rank_half_hours(weeks).table
    affected = {
        (household, int(slot))
        for household, slots in zip(truth["household"], truth["slots"], strict=True)
        for slot in slots
    }
    pairs = zip(table["household"], table["slot"], strict=True)
    hit = np.array([(household, int(slot)) in affected for household, slot in pairs])
    yield f"\n{len(table):,} half-hours of {households:,} demo homes (seed {seed}, {days} days),"
    yield f"{hit.mean():.2%} of them planted.\n"
    yield "| the first | planted among them | times as many as at random |\n|---|---|---|"
    for count in FIRST:
        share = hit[:count].mean()
        yield f"| {count:,} | {share:.0%} | {share / hit.mean():.0f} |"


def main() -> None:
    """Print the table and write it to the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--households", type=int, default=3639)
    parser.add_argument("--days", type=int, default=84)
    parser.add_argument("--seed", type=int, default=2)
    arguments = parser.parse_args()
    lines = ["# Half-hours\n", "`python benchmarks/half_hours.py`\n"]
    lines.append("The score was designed on the demo data of seed 1.")
    lines += lift_table(arguments.households, arguments.days, arguments.seed)
    print("\n".join(lines))
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
