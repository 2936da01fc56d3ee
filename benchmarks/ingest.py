"""Ingest beside DuckDB's own COPY (SELECT … ORDER BY) TO parquet, on the same CSV.

    python benchmarks/ingest.py [--rows 20000000] [--csv FILE] [--before CHECKOUT]

Prints rows a second and peak memory of both, each in a process of its own, and writes the table
to benchmarks/results/ingest.md: the median of three runs in turn. The file has rows in no order;
DuckDB gets the same memory limit and writes the same three columns, without checking, counting or
collapsing anything. ``--before`` runs another checkout of this repository, such as an earlier
version's (``git worktree add CHECKOUT COMMIT``), beside them.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "ingest.md"
REPEATS = 3

MAKE = """
COPY (
    SELECT 'MAC' || lpad((i // 26000)::VARCHAR, 6, '0') AS id,
        strftime(TIMESTAMP '2012-01-01' + to_minutes((30 * (i % 26000))::INTEGER),
            '%Y-%m-%d %H:%M:%S') AS time,
        round((hash(i) % 3000) / 1000.0, 3) AS kwh
    FROM range({rows}) AS r(i) ORDER BY hash(i * 7)
) TO '{csv}' (HEADER)
"""


def copy(csv: str, target: str) -> None:
    """Let DuckDB sort the file by itself."""
    config = {"memory_limit": "1100MB", "temp_directory": target + ".spill"}
    with duckdb.connect(config=config) as connection:
        connection.execute(
            f"""COPY (SELECT id, time, kwh FROM read_csv('{csv}') ORDER BY id, time)
            TO '{target}' (COMPRESSION zstd)"""  # noqa: S608 (paths of ours)
        )


def ours(csv: str, target: str) -> None:
    """Ingest the file, by the code in the folder where this process runs."""
    sys.path.insert(0, str(Path.cwd()))
    from core.readings import ingest

    dataset = ingest([csv], target)
    health = dataset.health
    assert health["accepted"] + health["collapsed"] + health["rejected"] == health["input"]


def make(csv: str, rows: str) -> None:
    """Write the file. In a process of its own: its memory would count for those that it starts."""
    with duckdb.connect() as connection:
        connection.execute(MAKE.format(rows=int(rows), csv=csv))


WORK = {"copy": copy, "ingest": ours, "make": make}


def run(what: str, *arguments: str, checkout: Path = ROOT) -> tuple[float, float]:
    """Return the seconds and the peak memory in MB of one run in a new process."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).resolve()), "--run", what, *arguments], cwd=checkout
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{what} failed")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def absolute(path: str) -> Path:
    """A path that is the same in whatever folder a process works."""
    return Path(path).resolve()


def main() -> None:
    """Run all in turn and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--csv", type=absolute, help="measure on this file (columns id, time, kwh)")
    parser.add_argument("--before", type=absolute, help="a checkout of an earlier version")
    parser.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        what, *rest = arguments.run
        WORK[what](*rest)
        return
    peers = {
        "DuckDB COPY (SELECT … ORDER BY)": ("copy", ROOT),
        "wattfold ingest": ("ingest", ROOT),
    }
    if arguments.before:
        peers["wattfold ingest, the version before"] = ("ingest", arguments.before)
    with tempfile.TemporaryDirectory() as folder:
        csv = arguments.csv or Path(folder) / "readings.csv"
        if arguments.csv is None:
            run("make", str(csv), str(arguments.rows))
        with csv.open("rb") as file:
            rows = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 24), b"")) - 1
        runs: dict[str, list[tuple[float, float]]] = {title: [] for title in peers}
        for turn in range(REPEATS):
            for number, (title, (what, checkout)) in enumerate(peers.items()):
                target = Path(folder) / f"target-{turn}-{number}"
                runs[title].append(run(what, str(csv), str(target), checkout=checkout))
        size = csv.stat().st_size
    lines = [
        f"{rows:,} rows, {size / 1e9:.2f} GB of CSV in no order, {os.cpu_count()} cores",
        "",
        "| | seconds | rows a second | peak memory, MB | speed of COPY = 1 |",
        "|---|---|---|---|---|",
    ]
    seconds = {title: statistics.median(s for s, _ in of) for title, of in runs.items()}
    copied = next(iter(seconds.values()))
    for title, of in runs.items():
        memory = max(peak for _, peak in of)
        lines.append(
            f"| {title} | {seconds[title]:.1f} | {rows / seconds[title]:,.0f} | {memory:,.0f} "
            f"| {copied / seconds[title]:.2f} |"
        )
    table = "\n".join(lines)
    print(table)
    RESULTS.parent.mkdir(exist_ok=True)
    command = "python benchmarks/ingest.py" + " --before CHECKOUT" * bool(arguments.before)
    RESULTS.write_text(f"# Ingest\n\n`{command}`\n\n{table}\n")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
