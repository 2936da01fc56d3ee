"""The cube beside a plain scan: pyarrow reading the same three columns of the same file.

    python benchmarks/cube.py [--households 3639] [--days 536] [--dataset DIR] [--threads 2]

Each runs in a process of its own, in turn, several times; the least time counts. The cube's time
takes in writing the counts and flushing them to the disk. A period is the middle third of the
record; its vectors are those of profiles, from the bins kept by day or from its readings, counted
afresh in the same bins. Prints the times, their ratio and the peak memory, and writes the table to
benchmarks/results/cube.md.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results" / "cube.md"


def scan(path: str, threads: int) -> None:
    """Read the columns and nothing more."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pa.set_cpu_count(threads)
    columns = ["household", "time", "kwh"]
    for _ in pq.ParquetFile(f"{path}/readings.parquet").iter_batches(
        batch_size=122_880, columns=columns, use_threads=True
    ):
        pass


def read(path: str, threads: int) -> None:
    """Read the columns into one table in memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pa.set_cpu_count(threads)
    pq.read_table(f"{path}/readings.parquet", columns=["household", "time", "kwh"])


def cube(path: str, threads: int) -> None:
    """Build the cube anew."""
    from core.cube import build_cube
    from core.readings import Dataset

    dataset = Dataset.open(path)
    shutil.rmtree(dataset.path / "cubes", ignore_errors=True)
    built = build_cube(dataset, threads=threads)
    assert built.sample_sizes.sum() == built.n_readings


def load(path: str, threads: int) -> None:
    """Fetch the cube that is kept, checksum and all."""
    from core.cube import build_cube
    from core.readings import Dataset

    build_cube(Dataset.open(path), threads=threads)


def _middle_third(dataset: Any) -> Any:
    from core.periods import Period

    first, last = dataset.first_and_last_day
    third = (last - first) / 3
    return Period(first + third, last - third)


def period_from_days(path: str, threads: int) -> None:
    """Make the vectors of a period that was not asked for before, from what is kept by day."""
    from core.cube import build_cube
    from core.readings import Dataset
    from core.vectors import make_vectors

    dataset = Dataset.open(path)
    cube = build_cube(dataset, period=_middle_third(dataset), threads=threads)
    make_vectors(cube, dataset, threads=threads)


def period_afresh(path: str, threads: int) -> None:
    """Make the same vectors by counting the period's readings."""
    from core.cube import build_cube
    from core.cube.build import recount
    from core.engine import Local
    from core.readings import Dataset
    from core.vectors import make_vectors

    dataset = Dataset.open(path)
    edges = build_cube(dataset, threads=threads).edges
    cube = recount(
        dataset, edges=edges, bins=100, period=_middle_third(dataset), engine=Local(threads)
    )
    make_vectors(cube, dataset, threads=threads)


RUNS = {
    "pyarrow scan by batches": scan,
    "pyarrow read_table": read,
    "cube": cube,
    "cube, kept from before": load,
    "vectors of a new period, from the kept days": period_from_days,
    "vectors of a new period, counted afresh": period_afresh,
}


def measure(what: str, path: Path, threads: int) -> tuple[float, float, float]:
    """Return the least seconds and processor seconds of two runs in a new process, and peak MB.

    The second run leaves out what happens once a process: imports and loading compiled code.
    """
    command = [sys.executable, __file__, "--run", what, str(path), str(threads)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds, processor, memory = json.loads(answer.stdout)
    return seconds, processor, memory


def run_here(what: str, path: str, threads: int) -> None:
    """Run twice in this process and print the least seconds, of both kinds, and the peak memory."""
    times, processor = [], []
    for _ in range(2):
        start, busy = time.perf_counter(), time.process_time()
        RUNS[what](path, threads)
        times.append(time.perf_counter() - start)
        processor.append(time.process_time() - busy)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([min(times), min(processor), peak]))


def main() -> None:
    """Make the readings, measure in turn and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--households", type=int, default=3639)
    parser.add_argument("--days", type=int, default=536)
    parser.add_argument("--dataset", type=Path, help="measure on this dataset directory")
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        what, path, threads = arguments.run
        run_here(what, path, int(threads))
        return

    from core.demo import make_demo
    from core.readings import Dataset

    kept = f"wattfold-demo-{arguments.households}-{arguments.days}"
    path = arguments.dataset or Path(tempfile.gettempdir()) / kept
    if not path.exists():
        make_demo(path, households=arguments.households, days=arguments.days, seed=1)
    readings = Dataset.open(path).readings_file.metadata.num_rows
    best = {what: (float("inf"), float("inf"), 0.0) for what in RUNS}
    for _ in range(arguments.repeats):
        for what in RUNS:
            seconds, processor, memory = measure(what, path, arguments.threads)
            before = best[what]
            best[what] = min(before[0], seconds), min(before[1], processor), max(before[2], memory)
    least = min(best["pyarrow scan by batches"][0], best["pyarrow read_table"][0])
    lines = [
        f"{readings:,} readings, {arguments.threads} threads",
        "",
        "| | seconds | × the faster scan | processor seconds | peak memory, MB |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {what} | {seconds:.2f} | {seconds / least:.2f} | {processor:.2f} | {memory:,.0f} |"
        for what, (seconds, processor, memory) in best.items()
    ]
    table = "\n".join(lines)
    print(table)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(f"# Cube\n\n`python benchmarks/cube.py`\n\n{table}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
