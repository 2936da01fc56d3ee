"""``wattfold anomalies``: a dataset -> its unusual households, with reasons."""

import argparse
import time
from typing import Any

from core.anomalies.options import RESAMPLES, THRESHOLD, TOP
from core.commands._run_flags import add_choices, add_flag, read_config, read_flag
from core.progress import Progress, part

NAME = "anomalies"
HELP = "list the most unusual households, or half-hours, and say why they are unusual"

_PARAMETERS = (TOP, THRESHOLD, RESAMPLES)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("dataset", metavar="DIR", help="a dataset directory")
    group = parser.add_argument_group("anomalies")
    for parameter in _PARAMETERS:
        add_flag(group, parameter)
    group.add_argument("--out", metavar="FILE", help="write all households to FILE.parquet or .csv")
    add_choices(parser)


def run(arguments: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    """Rank the households, write the table, and return the first rows."""
    from core.anomalies import find_anomalies
    from core.commands._output_tables import FORMATS, destination, json_rows, write_frame
    from core.readings import Dataset
    from core.runs import Store
    from core.runs.anomaly_stage import UNITS, keep_anomalies

    config = read_config(arguments)
    out = destination("--out", arguments.out, FORMATS)
    options: dict[str, Any] = {
        parameter.name: read_flag(arguments, parameter) for parameter in _PARAMETERS
    }
    dataset = Dataset.open(arguments.dataset)
    start = time.perf_counter()
    given: dict[str, Any] = {"progress": part(progress, 0.0, 0.98), **options}
    if config.unit in UNITS:
        found = keep_anomalies(dataset, config, Store.default(), **given)
    else:
        found = find_anomalies(dataset, config, seed=config.seed, **given)
    seconds = time.perf_counter() - start
    table = dataset.with_metadata(found.table)
    top = int(options["top"])
    result: dict[str, Any] = {
        "n": len(table),
        "unit": config.unit,
        "anomalies": json_rows(table.head(top)),
        "expected_false": found.expected_false(top),
        "left_out": list(found.left_out),
        "notices": list(found.notices),
        "seconds": {"anomalies": round(seconds, 3)},
    }
    if out:
        write_frame(table, out, {"dataset": dataset.digest, "config": config.to_json(), **options})
        result["out"] = str(out)
    progress(1.0, "Done")
    return result


def render(result: dict[str, Any]) -> str:
    """Say who is unusual and why."""
    from core.anomalies.words import q_words

    rows = result["anomalies"]
    width = max([len("household"), *(len(str(row["household"])) for row in rows)])
    what = "half-hours" if rows and "slot" in rows[0] else "households"
    lines = [
        f"{what:<13} {result['n']:,}, the first {len(rows):,} below; about "
        f"{result['expected_false']:.0f} of them may be ordinary",
        "",
        f"rank  {'household':<{width}}       q  stays  kWh/week  reason",
    ]
    for row in rows:
        stays = "" if row["stability"] is None else f"{row['stability']:.0%}"
        lines.append(
            f"{row['rank']:>4}  {row['household']:<{width}}  {q_words(row['q']):>6}  {stays:>5}  "
            f"{row['kwh_per_week']:>8.1f}  {row['reason']}"
        )
    lines.append("")
    lines += [f"note          {notice}" for notice in result["notices"]]
    if "out" in result:
        lines.append(f"written       {result['out']}")
    lines.append(f"seconds       {result['seconds']['anomalies']:.1f}")
    return "\n".join(lines)
