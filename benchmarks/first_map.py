"""How long a first map takes on the command line, in a new process with only the counts kept.

    python benchmarks/first_map.py [DATASET ...] [--repeats 3]

``wattfold embed DATASET`` with its defaults and an empty store; the least of several runs counts.
Once with compiled code from an earlier run, which Numba keeps beside the sources or, where they
are read-only, in the user's cache folder; and once with none, as after an installation. Processor
seconds tell more where others use the machine. Writes benchmarks/results/first_map.md.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from core.cube import build_cube
from core.demo import make_demo
from core.readings import Dataset

RESULTS = Path(__file__).parent / "results" / "first_map.md"
COMMAND = "import sys; from core.cli import main; sys.exit(main(sys.argv[1:]))"


def embed(dataset: Path, compiled: Path | None) -> tuple[float, float]:
    """Wall and processor seconds of one run."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "WATTFOLD_CACHE": f"{folder}/store"}
        if compiled is not None:
            environment["NUMBA_CACHE_DIR"] = str(compiled)
        words = ["embed", str(dataset), "--out", f"{folder}/points.csv"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-c", COMMAND, *words],
            check=True,
            env=environment,
            stdout=subprocess.DEVNULL,
        )
        wall = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, busy


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", type=Path, nargs="*")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    lines = [
        f"{os.cpu_count()} cores, load of the machine {os.getloadavg()[0]:.1f}",
        "",
        "| households | compiled code | seconds | processor seconds |",
        "|---|---|---|---|",
    ]
    demo = Path(tempfile.gettempdir()) / "wattfold-demo-1000-536"
    if not arguments.datasets and not demo.exists():
        make_demo(demo, households=1000, days=536, seed=1)
    for path in arguments.datasets or [demo]:
        dataset = Dataset.open(path)
        build_cube(dataset)
        runs = [embed(path, None) for _ in range(arguments.repeats + 1)][1:]
        with tempfile.TemporaryDirectory() as empty:
            first = embed(path, Path(empty))
        measured = {"kept": [min(each) for each in zip(*runs, strict=True)], "none": first}
        for name, (wall, busy) in measured.items():
            lines.append(f"| {len(dataset.households):,} | {name} | {wall:.1f} | {busy:.1f} |")
            print(lines[-1], flush=True)
    text = "\n".join(lines)
    command = "`python benchmarks/first_map.py DATASET ...`"
    RESULTS.write_text(f"# First map\n\n{command}\n\n{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
