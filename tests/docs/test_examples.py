"""The examples run, and find what they say."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from serving import ROOT
from sklearn.datasets import load_sample_image

from core.readings import Dataset
from core.runs import RunConfig, run

EXAMPLES = ROOT / "examples"


def run_example(folder, name, *arguments):
    """Run an example in a folder, warnings as errors, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / f"{name}.py", *arguments],
        cwd=folder,
        env={**os.environ, "WATTFOLD_CACHE": str(folder / "cache"), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_from_csv_to_a_map(tmp_path):
    printed = run_example(tmp_path, "csv_to_map", ".")
    points = pd.read_csv(tmp_path / "points.csv", dtype={"household": str})
    assert (tmp_path / "map.png").stat().st_size > 10_000
    # Stage by stage it is the map that a run makes at once.
    result = run(Dataset.open(tmp_path / "dataset"), RunConfig(k=10))
    assert points["household"].tolist() == result.units["household"].tolist()
    np.testing.assert_allclose(points[["y1", "y2"]], result.y, rtol=1e-6, atol=1e-6)
    first = points.loc[points["rank"] == 1, "household"].item()
    assert re.search(rf"^ *{first} .* 1$", printed, re.MULTILINE)


def test_one_household(tmp_path, demo_path):
    dataset = Dataset.open(demo_path)
    household = str(dataset.households["household"].iat[3])
    printed = run_example(tmp_path, "one_household", demo_path, household)
    config = RunConfig(unit="slots", household=household, reference="selection")
    result = run(dataset, config)
    assert result.units["label"].iat[result.hdr.anomalies[0]] in printed
    for name in ("half-hours.png", "demand.png"):
        assert (tmp_path / name).stat().st_size > 10_000


def test_comparing_backends(tmp_path, demo_path):
    printed = run_example(tmp_path, "compare_backends", demo_path)
    rows = [line.split() for line in printed.splitlines()[2:]]
    assert [row[0] for row in rows] == ["exact", "kdtree", "annoy", "hnsw"]
    assert rows[0][1:3] == ["1.000", "10/10"]
    assert all(0.5 < float(row[1]) <= 1 for row in rows)


def test_tiles_of_a_photograph(tmp_path):
    printed = run_example(tmp_path, "photo_tiles", "tiles.png")
    assert "672" in printed
    assert (tmp_path / "tiles.png").stat().st_size > 50_000
    # The ten that are outlined are no smooth sky: each has darker and brighter pixels than most.
    photo = load_sample_image("china.jpg").mean(axis=2)
    places = [tuple(map(int, found)) for found in re.findall(r"(\d+),(\d+)  ?>?9", printed)]
    assert len(places) == 10
    spread = np.array([photo[row : row + 20, left : left + 20].std() for row, left in places])
    assert np.median(spread) > 10


def test_every_example_is_run_here():
    text = Path(__file__).read_text(encoding="utf-8")
    for path in EXAMPLES.glob("*.py"):
        assert f'"{path.stem}"' in text
