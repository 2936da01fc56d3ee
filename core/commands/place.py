"""``wattfold place``: new households or weeks on an existing map."""

import argparse
from typing import Any

from core.commands._engine_flags import add_engine, read_engine
from core.commands._run_flags import add_flag, read_flag, read_households
from core.fields import FIELDS
from core.progress import Progress, part

NAME = "place"
HELP = "place new households or weeks on a map that embed has saved, and score them"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("map", metavar="MAP", help="a map, as embed --save-map writes it")
    parser.add_argument("dataset", metavar="NEW", help="a dataset directory")
    for name in ("household", "households"):
        add_flag(parser, FIELDS[name])
    add_flag(parser, FIELDS["n_anomalies"])
    parser.add_argument(
        "--out", metavar="FILE", help="write the points to FILE.parquet or FILE.csv"
    )
    add_engine(parser)


def run(arguments: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    """Place the dataset, write what is asked for, and return the JSON."""
    from core.commands._output_tables import FORMATS, destination, write_frame
    from core.placement import SavedMap, place, placement_json
    from core.readings import Dataset

    n_anomalies = read_flag(arguments, FIELDS["n_anomalies"])
    out = destination("--out", arguments.out, FORMATS)
    households = read_households(arguments.households) if arguments.households else None
    saved = SavedMap.open(arguments.map)
    dataset = Dataset.open(arguments.dataset)
    with read_engine(arguments, dataset) as engine:
        placement = place(
            saved,
            dataset,
            household=arguments.household,
            households=households,
            engine=engine,
            progress=part(progress, 0.05, 0.95),
        )
    result = placement_json(placement, saved, n_anomalies=n_anomalies)
    if out:
        description = {"map": saved.dataset_digest, "config": saved.config.to_json()}
        write_frame(placement.table(), out, {**description, "dataset": dataset.digest})
        result["out"] = str(out)
    progress(1.0, "Done")
    return result


def render(result: dict[str, Any]) -> str:
    """Say where the new points are."""
    shares = ", ".join(f"{level} % {count:,}" for level, count in result["hdr"].items() if count)
    lines = [
        f"placed        {result['n']:,} {result['unit']} on a map of {result['n_map']:,} "
        f"({result['method']}, {result['distance']}); {result['on_map']:,} are on it already",
        f"in the HDR    {shares}",
    ]
    if result["left_out"]:
        lines.append(f"left out      {len(result['left_out']):,} {result['unit']}")
    if result["anomalies"]:
        width = max(len("label"), *(len(row["label"]) for row in result["anomalies"]))
        lines += [
            "",
            f"rank  {'label':<{width}}  HDR %     density   by isolation   by surprise  nearest",
        ]
        lines += [
            f"{row['rank']:>4}  {row['label']:<{width}}  {row['hdr']:>5}  {row['density']:>10.4g}"
            f"  {row['isolation_rank']:>13}  {row['surprise_rank']:>12}  {row['nearest']}"
            for row in result["anomalies"]
        ]
        lines.append("")
    lines += [f"note          {notice}" for notice in result["notices"]]
    lines += [f"written       {result['out']}"] if "out" in result else []
    return "\n".join(lines)
