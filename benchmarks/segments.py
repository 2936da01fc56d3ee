"""How stable segments are: odd weeks against even weeks, one seed against another.

    python benchmarks/segments.py --data FOLDER [--out FILE]

FOLDER holds ``edrp311-wide.csv.gz`` (311 Scottish households, 13 weeks). Without ``--data`` the
demo households are used instead. Each half of the weeks is segmented by itself, its number of
segments included.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.metrics import adjusted_rand_score

from core.demo import make_demo
from core.readings import Dataset, ingest
from core.runs import RunConfig
from core.segments.clustering import AXES, cluster_weeks
from core.segments.week_points import WeekPoints, read_week_points

RESULTS = Path(__file__).parent / "results" / "segments.md"

Segmenter = Callable[[WeekPoints, int], np.ndarray]


def ours(detail: int) -> Segmenter:
    """Return our segmenter, coarser or finer."""
    return lambda points, seed: cluster_weeks(points, detail=detail, seed=seed).label


def density(least: int) -> Segmenter:
    """Return HDBSCAN on the same coordinates."""

    def segment(points: WeekPoints, seed: int) -> np.ndarray:
        x = points.coordinates()
        x = x - x.mean(axis=0)
        axes = np.linalg.svd(x, full_matrices=False)[2][:AXES]
        return np.asarray(HDBSCAN(min_cluster_size=least, copy=True).fit_predict(x @ axes.T))

    return segment


SEGMENTERS = {
    "wattfold segments": ours(0),
    "wattfold segments --detail 1": ours(1),
    "wattfold segments --detail 2": ours(2),
    "HDBSCAN, 5 at least": density(5),
    "HDBSCAN, 10 at least": density(10),
    "HDBSCAN, 20 at least": density(20),
}


def compare(one: np.ndarray, two: np.ndarray) -> tuple[float, float]:
    """Adjusted Rand index of all households (those between are a class), and of those in both."""
    both = (one >= 0) & (two >= 0)
    inside = adjusted_rand_score(one[both], two[both]) if both.any() else np.nan
    return float(adjusted_rand_score(one, two)), float(inside)


def rows(points: WeekPoints) -> Iterator[str]:
    """Write one row per segmenter."""
    odd = np.arange(points.known.shape[1]) % 2 == 1
    yield (
        "| | segments | between | odd and even weeks: all | in a segment in both | two seeds: all |"
    )
    yield "|---" * 6 + "|"
    for name, segment in SEGMENTERS.items():
        whole = segment(points, 1)
        weeks = compare(segment(points.only(odd), 1), segment(points.only(~odd), 1))
        seeds = np.mean([compare(whole, segment(points, seed))[0] for seed in (2, 3, 4)])
        yield (
            f"| {name} | {whole.max() + 1} | {(whole < 0).mean():.0%} | {weeks[0]:.2f} | "
            f"{weeks[1]:.2f} | {seeds:.2f} |"
        )


def main() -> None:
    """Print the table and write it to the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        if arguments.data is None:
            name, dataset = "demo", make_demo(Path(scratch) / "demo", days=91)
        else:
            name = "311 Scottish households, 13 weeks"
            ingest([arguments.data / "edrp311-wide.csv.gz"], Path(scratch) / "data")
            dataset = Dataset.open(Path(scratch) / "data")
        points = read_week_points(dataset, RunConfig())
    lines = [
        "# Segments\n",
        "`python benchmarks/segments.py --data FOLDER`\n",
        "Adjusted Rand index between segments of odd and of even weeks, each found by itself, and "
        "between seeds. Households between segments are a class of their own in the first and the "
        "last, and are left out in the other.\n",
        f"## {name}\n",
    ]
    for line in rows(points):
        print(line, flush=True)
        lines.append(line)
    arguments.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
