"""From a CSV file to neighbours to a map, one stage at a time.

    python examples/csv_to_map.py FOLDER

Reads ``FOLDER/readings.csv`` (household, time, kwh); without such a file, it first writes one of
synthetic households. Leaves ``FOLDER/map.png`` and ``FOLDER/points.csv``.
"""

import sys
from pathlib import Path

import pandas as pd

import wattfold as wf
from core.figures import draw_hdr_map, save_figure


def main(folder: Path) -> None:
    """Map the households of one file."""
    source = folder / "readings.csv"
    if not source.exists():
        write_some_readings(source)

    # Readings, cleaned and accounted for.
    dataset = wf.read(source, to=folder / "dataset")
    health = dataset.health
    print(f"{health['accepted']:,} of {health['input']:,} readings were accepted")

    # Counts by household, half-hour of the week and bin of demand: all that follows needs.
    cube = wf.build_cube(dataset, bins=100)

    # One vector a household, whose L1 distances are total variation summed over the week.
    vectors = wf.make_vectors(cube, dataset, unit="profiles", distance="tv")

    neighbors = wf.find_neighbors(vectors, k=10)
    embedding = wf.embed("isomap", neighbors, vectors)
    quality = wf.measure_quality(vectors, embedding.y, k=10)
    print(f"trustworthiness {quality.trustworthiness:.3f}, continuity {quality.continuity:.3f}")

    hdr = wf.hdr_density(embedding.y, n_anomalies=5)
    points = vectors.units.assign(
        y1=embedding.y[:, 0], y2=embedding.y[:, 1], hdr=hdr.labels, rank=hdr.rank
    )
    print(points.sort_values("rank").head(5).to_string(index=False))

    points.to_csv(folder / "points.csv", index=False)
    labels = vectors.units["label"].to_numpy()
    save_figure(draw_hdr_map(embedding.y, hdr, labels), folder / "map.png")


def write_some_readings(path: Path) -> None:
    """Write the readings of forty synthetic households over eight weeks."""
    path.parent.mkdir(parents=True, exist_ok=True)
    demo = wf.make_demo(path.parent / "demo", households=40, days=56)
    frames = [
        demo.readings(household).assign(household=household)
        for household in demo.households["household"]
    ]
    pd.concat(frames)[["household", "time", "kwh"]].to_csv(path, index=False)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
