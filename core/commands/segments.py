"""``wattfold segments``: kinds of households, found and named."""

import argparse
import time
from typing import Any

from core.commands._run_flags import add_flag, read_fields, read_flag
from core.fields import FIELDS
from core.progress import Progress
from core.segments.options import DETAIL

NAME = "segments"
HELP = "find kinds of households that stay the same from week to week, and name them"

_CHOICES = ("households", "slots", "bins", "first_day", "last_day", "months", "seed")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("dataset", metavar="DIR", help="a dataset directory")
    add_flag(parser, DETAIL)
    parser.add_argument(
        "--out", metavar="FILE", help="write every household's segment to FILE.parquet or .csv"
    )
    choices = parser.add_argument_group("which readings")
    for name in _CHOICES:
        add_flag(choices, FIELDS[name])


def run(arguments: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    """Find the segments, write the table, and return the JSON."""
    from core.commands._output_tables import FORMATS, destination, write_frame
    from core.readings import Dataset
    from core.runs import RunConfig, Store
    from core.segments import find_segments

    start = time.perf_counter()
    out = destination("--out", arguments.out, FORMATS)
    detail = read_flag(arguments, DETAIL)
    dataset = Dataset.open(arguments.dataset)
    config = RunConfig(**read_fields(arguments))
    found = find_segments(dataset, config, detail=detail, store=Store.default(), progress=progress)
    table = found.table
    result: dict[str, Any] = {
        "n": len(table),
        "found": found.found,
        "segments": [
            {
                "number": number,
                "name": name,
                "households": int((table["number"] == number).sum()),
                "kwh_per_day": float(table["kwh_per_day"][table["number"] == number].median()),
                "parts": [
                    {"name": part, "households": int((table["part"] == part).sum())}
                    for part in found.parts[name]
                    if part != name
                ],
            }
            for number, name in enumerate(found.names, start=1)
        ],
        "between": int((table["number"] == 0).sum()),
        "agreement": {str(count): round(value, 3) for count, value in found.agreement.items()},
        "left_out": list(found.left_out),
        "notices": list(found.notices),
        "seconds": {"segments": round(time.perf_counter() - start, 3)},
    }
    if out:
        # The columns that `wattfold groups --groups` reads come first.
        named = table.rename(columns={"segment": "group"})
        described = {"dataset": dataset.digest, "config": config.to_json(), "detail": detail}
        write_frame(named, out, described)
        result["out"] = str(out)
    progress(1.0, "Done")
    return result


def render(result: dict[str, Any]) -> str:
    """Say which segments there are."""
    lines = [
        f"households    {result['n']:,} in {len(result['segments'])} segments, "
        f"{result['between']:,} between them",
        "",
        "number  households  kWh a day  segment",
    ]
    for each in result["segments"]:
        lines.append(
            f"{each['number']:>6}  {each['households']:>10,}  {each['kwh_per_day']:>9.1f}  "
            f"{each['name']}"
        )
        lines += [f"{part['households']:>18,}{'':13}- {part['name']}" for part in each["parts"]]
    tried = ", ".join(f"{count}: {value:.2f}" for count, value in result["agreement"].items())
    lines += ["", f"agreement     of two halves of the weeks, by number of segments: {tried}"]
    lines += [f"note          {notice}" for notice in result["notices"]]
    if "out" in result:
        lines.append(f"written       {result['out']}")
    lines.append(f"seconds       {result['seconds']['segments']:.1f}")
    return "\n".join(lines)
