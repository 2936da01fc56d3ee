"""How long a study takes and how much memory, cold and again.

    python benchmarks/study.py [--households 200] [--days 365] [--dataset DIR] [--units UNIT...]

Makes a demo dataset, or takes one, and runs ``wattfold study`` in a process of its own with an
empty cache, then again. The first time includes the cube, unless the dataset has it already.
Prints a table and writes it to benchmarks/results/study-<households>.md.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from core.demo import make_demo
from core.readings import Dataset
from core.runs._stage_log import STAGES

RESULTS = Path(__file__).parent / "results"
COMMAND = "import sys; from core.cli import main; sys.exit(main(sys.argv[1:]))"


def run_study(dataset: Dataset, unit: str, folder: Path) -> tuple[float, float, dict[str, Any]]:
    """Seconds and peak memory (GB) of a study in its own process, and what it printed."""
    words = ["study", str(dataset.path), "--unit", unit, "--out", str(folder / "out"), "--json"]
    if unit == "slots":
        words += ["--household", dataset.households["household"][0]]
    started = time.perf_counter()
    with (folder / "printed.json").open("w+b") as printed:
        process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, *words],
            stdout=printed,
            env={**os.environ, "WATTFOLD_CACHE": str(folder / "cache")},
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        if status:
            raise SystemExit(f"the study of {unit} failed")
        printed.seek(0)
        return seconds, usage.ru_maxrss * 1024 / 1e9, json.load(printed)


def stage_seconds(result: dict[str, Any]) -> dict[str, float]:
    """Seconds of every stage, all runs together."""
    return {
        stage: sum(row["seconds"].get(stage, 0.0) for row in result["rows"]) for stage in STAGES
    }


def measure(dataset: Dataset, units: list[str]) -> str:
    """Study each unit cold and warm; return a table."""
    heads = ["unit", "points", "", "seconds", "peak GB", *STAGES, "rest"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for unit in units:
        with tempfile.TemporaryDirectory() as name:
            for again in ("cold", "again"):
                seconds, memory, result = run_study(dataset, unit, Path(name))
                stages = stage_seconds(result)
                rest = seconds - sum(stages.values())
                parts = [f"{value:.1f}" for value in (*stages.values(), rest)]
                cells = [unit, f"{result['n']:,}", again, f"{seconds:.1f}", f"{memory:.2f}", *parts]
                lines.append("| " + " | ".join(cells) + " |")
                print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    """Make or open the dataset, measure, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--households", type=int, default=200)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--dataset", help="take this one in place of a demo")
    parser.add_argument("--units", nargs="+", default=["profiles", "slots"])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if arguments.dataset:
            dataset = Dataset.open(arguments.dataset)
        else:
            made = Path(name) / "demo"
            dataset = make_demo(made, households=arguments.households, days=arguments.days)
        readings = int(dataset.households["accepted"].sum())
        about = (
            f"{len(dataset.households):,} households, {readings:,} readings, "
            f"{os.cpu_count()} cores. Six methods on four searches; seconds of the whole command, "
            "of its stages over all runs, and of the rest: starting, first uses, figures."
        )
        text = f"# Study\n\n`python benchmarks/study.py`\n\n{about}\n\n"
        text += measure(dataset, arguments.units)
        print(text)
        RESULTS.mkdir(exist_ok=True)
        file = RESULTS / f"study-{len(dataset.households)}.md"
        file.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
