"""How long the data of a stored map of all half-hours take to open, in a new process.

    python benchmarks/open_map.py [--dataset DIR] [--store DIR]

The map is that of ``benchmarks/scale.py --work household-slots --store DIR``; it is made first
where the store does not hold it. Measured is what the page does before it draws: to look whether
all of the map is stored, and to read it, with the checksums of all files. Prints the seconds and
writes benchmarks/results/open_map.md.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RESULTS = Path(__file__).parent / "results" / "open_map.md"


def open_here(dataset_path: str, store_path: str) -> None:
    """Open the map, or make it where it is not stored, and print what it took, as JSON."""
    from core.readings import Dataset
    from core.runs import RunConfig, Runner, Store

    dataset = Dataset.open(dataset_path)
    config = RunConfig(
        unit="household-slots",
        neighbors="nndescent",
        neighbors_parameters={"graph_k": 40},
        method="umap",
        quality=True,
    )
    runner = Runner(dataset, store=Store(store_path, limit_bytes=10**11))
    wall, busy = time.perf_counter(), time.process_time()
    was_stored = runner.stored(config)
    n = runner.run(config).n
    seconds = time.perf_counter() - wall, time.process_time() - busy
    print(json.dumps([was_stored, n, *seconds]))


def main() -> None:
    """Open the map three times, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", type=Path)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--run", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        open_here(*arguments.run)
        return
    from core.demo import make_demo

    path = arguments.dataset or Path(tempfile.gettempdir()) / "wattfold-demo-250-536"
    if not path.exists():
        make_demo(path, households=250, days=536, seed=1)
    best = [float("inf"), float("inf")]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--run", str(path), str(arguments.store or folder)]
        for _ in range(4):
            answer = subprocess.run(command, check=True, capture_output=True, text=True)
            was_stored, n, *seconds = json.loads(answer.stdout)
            if was_stored:
                best = [min(pair) for pair in zip(best, seconds, strict=True)]
    text = (
        f"# Opening a stored map\n\n`python benchmarks/open_map.py`, {os.cpu_count()} cores, "
        f"load of the machine {os.getloadavg()[0]:.1f}\n\n"
        "| points | seconds | processor seconds |\n"
        f"|---|---|---|\n| {n:,} | {best[0]:.1f} | {best[1]:.1f} |\n"
    )
    print(text)
    RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
