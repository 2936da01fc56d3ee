"""A folder of one file per household beside the same rows in one file.

    python benchmarks/ingest_folder.py [--households 3639] [--days 30]

Prints the seconds and the peak memory of both, each in a process of its own, and writes the table
to benchmarks/results/ingest_folder.md. The goal is 1.5 times the time of the one file.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

RESULTS = Path(__file__).parent / "results" / "ingest_folder.md"


def make(folder: Path, households: int, days: int) -> tuple[Path, Path]:
    """Write the files; return the one file and the folder of many."""
    times = pd.date_range("2010-01-04", periods=48 * days, freq="30min").strftime("%Y-%m-%d %H:%M")
    chance = np.random.default_rng(1)
    one, many = folder / "one.csv", folder / "many"
    many.mkdir()
    with one.open("w") as whole:
        whole.write("household,time,kwh\n")
        for number in range(households):
            values = chance.gamma(1.5, 0.2, len(times)).round(3)
            pairs = [f"{time},{value}" for time, value in zip(times, values, strict=True)]
            (many / f"home-{number:05d}.csv").write_text("time,kwh\n" + "\n".join(pairs) + "\n")
            whole.writelines(f"home-{number:05d},{pair}\n" for pair in pairs)
    return one, many


def measure(source: Path, target: Path) -> tuple[float, float]:
    """Return the seconds and the peak memory in MB of an ingest in a new process."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, __file__, "--run", str(source), str(target)])
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"the ingest of {source.name} failed")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def main() -> None:
    """Measure both, the better of three each, in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--households", type=int, default=3639)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--run", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        from core.readings import ingest

        health = ingest([arguments.run[0]], arguments.run[1]).health
        assert health["accepted"] == health["input"]
        return
    with tempfile.TemporaryDirectory() as folder:
        sources = make(Path(folder), arguments.households, arguments.days)
        runs = [(*measure(s, Path(folder) / "d"), s.name) for _ in range(3) for s in sources]
    best = {name: min(run for run in runs if run[2] == name) for name in ("one.csv", "many")}
    lines = [
        f"{arguments.households:,} households of {arguments.days} days, "
        f"{48 * arguments.households * arguments.days:,} readings, {os.cpu_count()} cores",
        "",
        "| | seconds | peak memory, MB |",
        "|---|---|---|",
        "| one file | {:.1f} | {:,.0f} |".format(*best["one.csv"]),
        "| one file per household | {:.1f} | {:,.0f} |".format(*best["many"]),
        "",
        f"the folder takes {best['many'][0] / best['one.csv'][0]:.2f} × the time of the one file",
    ]
    table = "\n".join(lines)
    print(table)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(f"# Folders\n\n`python benchmarks/ingest_folder.py`\n\n{table}\n")


if __name__ == "__main__":
    main()
