"""What it costs to do the work on a cluster: the cube and neighbours on local processes.

    python benchmarks/cluster.py [--households 1000] [--days 536] [--dataset DIR] [--workers 1 2 4]
           [--approximate nndescent]

Counts a dataset and searches the neighbours of its profiles in this process, then on Dask workers
that are processes of this machine, and compares the results bit by bit. Wall seconds say little
where workers share cores; processor seconds of all processes together, beside those of this
process alone, say what share of a cluster's work is useful. An approximate search, if asked for, is
done here and by shards on the last number of workers, with its recall beside the exact one.
Writes a section of benchmarks/results/cluster.md.
"""

import argparse
import os
import re
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results" / "cluster.md"


def total_seconds(engine: object) -> float:
    """Processor seconds of this process and of the engine's workers, so far."""
    client = getattr(engine, "client", None)
    workers = client.run(time.process_time).values() if client is not None else ()
    return time.process_time() + sum(workers)


def main() -> None:
    """Measure here and on so many workers, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--households", type=int, default=1000)
    parser.add_argument("--days", type=int, default=536)
    parser.add_argument("--dataset", type=Path)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--approximate", metavar="BACKEND")
    arguments = parser.parse_args()

    from core.cube import build_cube
    from core.demo import make_demo
    from core.engine import Dask, Local
    from core.neighbors import Neighbors
    from core.neighbors.sharded import find_neighbors_by_shard
    from core.quality.recall import recall
    from core.readings import Dataset
    from core.vectors import make_vectors

    kept = f"wattfold-demo-{arguments.households}-{arguments.days}"
    source = arguments.dataset or Path(tempfile.gettempdir()) / kept
    if not source.exists():
        make_demo(source, households=arguments.households, days=arguments.days, seed=1)
    heads = ["", "cube: seconds", "processor", "useful", "neighbours: seconds", "processor"]
    heads += ["useful", "tasks"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    with tempfile.TemporaryDirectory() as name:
        view = Path(name) / "dataset"
        view.mkdir()
        for file in source.iterdir():
            if file.is_file():
                (view / file.name).symlink_to(file.absolute())
        dataset = Dataset.open(view)
        first: tuple[np.ndarray, Neighbors] | None = None
        alone = (0.0, 0.0)
        for workers in [0, 0, *arguments.workers]:
            engine = Dask(Path(name) / "work", n_workers=workers) if workers else Local()
            with engine:
                measured = []
                # Twice: the first time compiles or loads what is compiled.
                for _ in range(2):
                    shutil.rmtree(view / "cubes", ignore_errors=True)
                    wall, cpu = time.perf_counter(), total_seconds(engine)
                    cube = build_cube(dataset, engine=engine)
                    middle, cpu_middle = time.perf_counter(), total_seconds(engine)
                    vectors = make_vectors(cube, dataset)
                    made, cpu_made = time.perf_counter(), total_seconds(engine)
                    found = find_neighbors_by_shard(vectors, backend="exact", engine=engine)
                    measured = [
                        (middle - wall, cpu_middle - cpu),
                        (time.perf_counter() - made, total_seconds(engine) - cpu_made),
                    ]
                tasks = getattr(engine, "computed", 0) // 2
            if first is None:
                first = np.array(cube.counts), found
            assert (cube.counts == first[0]).all() and (found.indices == first[1].indices).all()
            if not workers:
                alone = (measured[0][1], measured[1][1])
            cells = [f"{workers} workers" if workers else "this process"]
            for (seconds, processor), own in zip(measured, alone, strict=True):
                cells += [f"{seconds:.1f}", f"{processor:.1f}", f"{own / processor:.0%}"]
            lines.append("| " + " | ".join([*cells, str(tasks or "")]) + " |")
            print(lines[-1], flush=True)
        del lines[2]  # the first time here, which loads what is compiled
        if arguments.approximate and first is not None:
            lines += ["", f"| {arguments.approximate} | seconds | processor | recall |"]
            lines += ["|---|---|---|---|"]
            for workers in (0, arguments.workers[-1]):
                engine = Dask(Path(name) / "work", n_workers=workers) if workers else Local()
                with engine:
                    for _ in range(2):
                        wall, cpu = time.perf_counter(), total_seconds(engine)
                        found = find_neighbors_by_shard(
                            vectors, backend=arguments.approximate, engine=engine
                        )
                        wall, cpu = time.perf_counter() - wall, total_seconds(engine) - cpu
                cells = [f"{workers} workers" if workers else "this process", f"{wall:.1f}"]
                cells += [f"{cpu:.1f}", f"{recall(found, first[1]).value:.3f}"]
                lines.append("| " + " | ".join(cells) + " |")
                print(lines[-1], flush=True)
    households = len(dataset.households)
    command = f"python benchmarks/cluster.py --households {households}"
    if arguments.approximate:
        command += f" --approximate {arguments.approximate}"
    head = f"## {households:,} households, {os.cpu_count()} cores\n"
    text = f"{head}\n`{command}`\n\n" + "\n".join(lines) + "\n"
    print(text)
    kept = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else ""
    others = [each for each in re.split(r"(?m)^(?=## )", kept)[1:] if not each.startswith(head)]
    sections = [each.strip() for each in (*others, text)]
    RESULTS.write_text("\n\n".join(["# Cluster", *sections]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
