"""Ingest beside DuckDB's own COPY (SELECT … ORDER BY) TO parquet, on the same CSV.

    python benchmarks/ingest.py [--rows 20000000] [--csv FILE]

Prints rows a second and peak memory of both, each in a process of its own, and writes the table
to benchmarks/results/ingest.md. The file has rows in no order; DuckDB gets the same memory limit
and writes the same three columns, without checking, counting or collapsing anything.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

RESULTS = Path(__file__).parent / "results" / "ingest.md"

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
    """Ingest the file."""
    from core.readings import ingest

    dataset = ingest([csv], target)
    health = dataset.health
    assert health["accepted"] + health["collapsed"] + health["rejected"] == health["input"]


def measure(what: str, csv: Path, folder: Path) -> tuple[float, float]:
    """Return the seconds and the peak memory in MB of one run in a new process."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, __file__, "--run", what, str(csv), str(folder / what)]
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{what} failed")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def main() -> None:
    """Run both in turn and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--csv", type=Path, help="measure on this file (columns id, time, kwh)")
    parser.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        what, csv, target = arguments.run
        (copy if what == "copy" else ours)(csv, target)
        return
    with tempfile.TemporaryDirectory() as folder:
        csv = arguments.csv or Path(folder) / "readings.csv"
        if arguments.csv is None:
            with duckdb.connect() as connection:
                connection.execute(MAKE.format(rows=arguments.rows, csv=csv))
        size = csv.stat().st_size
        with csv.open("rb") as file:
            rows = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 24), b"")) - 1
        lines = [
            f"{rows:,} rows, {size / 1e9:.2f} GB of CSV in no order, {os.cpu_count()} cores",
            "",
            "| | seconds | rows a second | peak memory, MB |",
            "|---|---|---|---|",
        ]
        speed = {}
        for what, title in (
            ("copy", "DuckDB COPY (SELECT … ORDER BY)"),
            ("ingest", "wattfold ingest"),
        ):
            seconds, memory = measure(what, csv, Path(folder))
            speed[what] = rows / seconds
            lines.append(f"| {title} | {seconds:.1f} | {speed[what]:,.0f} | {memory:,.0f} |")
        lines += ["", f"ingest reaches {speed['ingest'] / speed['copy']:.2f} × the speed of COPY"]
    table = "\n".join(lines)
    print(table)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(f"# Ingest\n\n`python benchmarks/ingest.py`\n\n{table}\n")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
