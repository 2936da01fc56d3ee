"""How every stage grows with the number of households.

    python benchmarks/scale.py [--households 250 1000 3639] [--days 536] [--datasets DIR...]
                               [--work profiles household-slots ...] [--store DIR]

Makes demo datasets, or takes those given, brings their readings in again from one CSV file (by
household and time; benchmarks/ingest.py has a file in no order) and runs the stages on each in
processes of their own, with nothing kept from before but what is compiled: each process has first
done the same work on thirty households. For every stage: wall seconds, processor seconds (of all
threads, which others on the machine disturb less), the peak memory of the process during it, and
the exponent b of processor seconds ~ householdsᵇ. A stage lasts until the next one begins. What is
measured is kept in benchmarks/results/scale.json, so that work can be measured in parts, and
written as a table to benchmarks/results/scale.md. ``--store`` keeps the results of the runs.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results"
MEASURED = RESULTS / "scale.json"
TABLE = RESULTS / "scale.md"

SAMPLED_POINTS = 100_000
# Shorter than this, a stage says nothing about growth.
SHORTEST_SECONDS = 0.2

Measure = dict[str, float]


class Meter:
    """Seconds and peak memory from one call of ``begin`` to the next."""

    def __init__(self) -> None:
        self.measured: dict[str, Measure] = {}
        self._open: tuple[str, float, float] | None = None

    def begin(self, stage: str) -> None:
        """End the stage before and begin this one."""
        self.end()
        # Linux forgets the peak so far when it is asked to.
        Path("/proc/self/clear_refs").write_text("5")
        self._open = stage, time.perf_counter(), time.process_time()

    def end(self) -> None:
        """Take down the stage that is under way."""
        if self._open is None:
            return
        stage, wall, cpu = self._open
        status = Path("/proc/self/status").read_text()
        peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        self.measured[stage] = {
            "seconds": time.perf_counter() - wall,
            "cpu_seconds": time.process_time() - cpu,
            "peak_mb": int(peak.split()[1]) / 1024,
        }
        self._open = None


def runs_of(work: str, households: list[str]) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the runs that a piece of work is made of: what to call them, and their configs."""
    from core.embedding import METHODS

    if work == "profiles":
        for method in METHODS:
            yield method, {"method": method, "neighbors": "exact", "quality": method == "isomap"}
    elif work == "households":
        yield "isomap", {"unit": "households", "neighbors": "exact"}
    elif work == "slots":
        yield "isomap", {"unit": "slots", "household": households[0], "neighbors": "exact"}
    else:
        config: dict[str, object] = {
            "unit": "household-slots",
            "neighbors": "nndescent",
            "neighbors_parameters": {"graph_k": 40},
            "method": "umap",
            "quality": True,
        }
        if work == "household-slots, sampled":
            count = min(len(households), SAMPLED_POINTS // 336)
            chosen = np.random.default_rng(1).choice(households, count, replace=False)
            config |= {"households": tuple(chosen.tolist()), "neighbors_parameters": {}}
            config["neighbors"] = "exact"
            yield "tsne", {**config, "method": "tsne", "method_parameters": {}}
        yield "umap", config


WORK = ("ingest", "profiles", "households", "slots", "household-slots, sampled", "household-slots")


def ingest_here(dataset_path: str) -> None:
    """Bring a dataset's readings in again, from one CSV file, and print what it took, as JSON."""
    import duckdb

    from core.readings import ingest

    with tempfile.TemporaryDirectory() as name:
        csv, made = Path(name) / "readings.csv", Path(name) / "made"
        with duckdb.connect() as connection:
            connection.execute(
                f"""COPY (SELECT 'H' || household AS household, time, kwh
                FROM read_parquet('{dataset_path}/readings.parquet')) TO '{csv}' (HEADER)"""  # noqa: S608 (paths of ours)
            )
        meter = Meter()
        meter.begin("ingest")
        health = ingest([csv], made, progress=_tell("ingest", csv.name)).health
        meter.end()
        assert health["accepted"] + health["collapsed"] == health["input"], health
    unknown = {"recall": None, "trustworthiness": None}
    print(json.dumps({"stages": meter.measured, "n": health["input"], **unknown}))


def run_here(work: str, dataset_path: str, store_path: str) -> None:
    """Do a piece of work in this process and print what it took, as JSON."""
    if work == "ingest":
        ingest_here(dataset_path)
        return
    from core.demo import make_demo
    from core.readings import Dataset
    from core.runs import RunConfig, Runner, Store

    with tempfile.TemporaryDirectory() as name:
        few = make_demo(Path(name) / "few", households=30, days=56, seed=2)
        ids = few.households["household"].tolist()
        for _, config in runs_of(work, ids):
            if config.get("unit") == "household-slots":
                config = {**config, "households": tuple(ids[:4])}
            Runner(few).run(RunConfig(**config))
    dataset = Dataset.open(dataset_path)
    runner = Runner(dataset, store=Store(store_path, limit_bytes=10**11))
    meter = Meter()
    outcome = {}
    for name, config in runs_of(work, dataset.households["household"].tolist()):

        def begin(stage: str, name: str = name) -> None:
            again = stage in ("embedding", "density") or stage in meter.measured
            meter.begin(f"{stage} {name}" if again else stage)

        run = runner.run(RunConfig(**config), computing=begin, progress=_tell(work, name))
        meter.end()
        outcome = {
            "n": run.n,
            "recall": run.recall,
            "trustworthiness": run.quality and run.quality.trustworthiness,
            "q_nx": run.quality and run.quality.q_nx,
        }
    print(json.dumps({"stages": meter.measured, **outcome}))


def _tell(work: str, name: str) -> Callable[..., None]:
    told = time.monotonic()

    def report(fraction: float, message: str = "") -> None:
        nonlocal told
        if time.monotonic() - told > 30:
            told = time.monotonic()
            print(f"    {work}, {name}: {fraction:.0%} {message}", file=sys.stderr, flush=True)

    return report


def measure(work: str, dataset: Path, store: Path | None) -> dict[str, object]:
    """Do a piece of work in a process of its own, on a view of the dataset without counts."""
    with tempfile.TemporaryDirectory() as name:
        view = Path(name) / "dataset"
        view.mkdir()
        for file in dataset.iterdir():
            if file.is_file():
                (view / file.name).symlink_to(file.absolute())
        kept = store or Path(name) / "store"
        command = [sys.executable, __file__, "--run", work, str(view), str(kept)]
        answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        return dict(json.loads(answer.stdout))


def exponent(sizes: list[int], seconds: list[float]) -> str:
    """The slope of log seconds over log size, where there are two or more that mean something."""
    pairs = [
        (size, value)
        for size, value in zip(sizes, seconds, strict=True)
        if value >= SHORTEST_SECONDS
    ]
    if len(pairs) < 2:
        return ""
    slope, _ = np.polyfit(*np.log(np.array(pairs)).T, 1)
    return f"{slope:.2f}"


def table(measured: dict[str, dict[str, dict]]) -> str:
    """One row a stage, three columns a size: wall seconds, processor seconds, peak memory."""
    sizes = sorted(int(size) for size in measured)
    heads = ["work", "stage"]
    for size in sizes:
        heads += [f"{size:,}: seconds", "processor", "peak MB"]
    lines = ["| " + " | ".join([*heads, "exponent"]) + " |", "|---" * (len(heads) + 1) + "|"]
    for work in WORK:
        found = {size: measured[str(size)][work] for size in sizes if work in measured[str(size)]}
        stages = list(dict.fromkeys(stage for each in found.values() for stage in each["stages"]))
        for stage in stages:
            cells, done = [], {}
            for size in sizes:
                values = found.get(size, {}).get("stages", {}).get(stage)
                if values is None:
                    cells += ["", "", ""]
                    continue
                done[size] = values["cpu_seconds"]
                cells.append(f"{values['seconds']:.1f}")
                cells += [f"{values['cpu_seconds']:.1f}", f"{values['peak_mb']:,.0f}"]
            cells.append(exponent(list(done), list(done.values())))
            lines.append(f"| {work} | {stage} | " + " | ".join(cells) + " |")
    lines.append("")
    for size in sizes:
        for work, each in measured[str(size)].items():
            if each["recall"] is not None and each["trustworthiness"] is not None:
                lines.append(
                    f"- {size:,} households, {work}: {each['n']:,} points, recall "
                    f"{each['recall']:.3f}, trustworthiness {each['trustworthiness']:.3f}"
                    + (f", Q_NX {each['q_nx']:.3f}" if each.get("q_nx") is not None else "")
                    + (f"; {each['note']}" if "note" in each else "")
                )
    return "\n".join(lines)


def main() -> None:
    """Measure what is asked for, and write all that is known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--households", type=int, nargs="+", default=[250, 1000, 3639])
    parser.add_argument("--days", type=int, default=536)
    parser.add_argument("--datasets", type=Path, nargs="+", help="take these in place of demos")
    parser.add_argument("--work", nargs="+", choices=WORK, default=list(WORK))
    parser.add_argument("--store", type=Path, help="keep the results of the runs here")
    parser.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        run_here(*arguments.run)
        return

    from core.demo import make_demo
    from core.readings import Dataset

    paths = arguments.datasets
    if paths is None:
        folder = Path(tempfile.gettempdir())
        paths = [folder / f"wattfold-demo-{n}-{arguments.days}" for n in arguments.households]
        for n, path in zip(arguments.households, paths, strict=True):
            if not path.exists():
                make_demo(path, households=n, days=arguments.days, seed=1)
    measured = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {}
    for path in paths:
        size = str(len(Dataset.open(path).households))
        for work in arguments.work:
            print(f"{size} households, {work}", flush=True)
            measured.setdefault(size, {})[work] = measure(work, path, arguments.store)
            RESULTS.mkdir(exist_ok=True)
            MEASURED.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
            text = f"# Scale\n\n`python benchmarks/scale.py`, {os.cpu_count()} cores\n\n"
            TABLE.write_text(text + table(measured) + "\n", encoding="utf-8")
    print(table(measured))


if __name__ == "__main__":
    main()
