"""``wattfold groups``: groups of households against each other or against the rest."""

import argparse
import time
from typing import Any

from core.commands._run_flags import add_flag, read_fields, read_flag
from core.errors import InputError
from core.fields import FIELDS
from core.groups.options import PERMUTATIONS
from core.progress import Progress, part

NAME = "groups"
HELP = "compare groups of households: how they differ, when, and how sure that is"

# What decides the distributions that are compared; what makes a map has no part in it.
_CHOICES = (
    "unit", "households", "slots", "distance", "bins", "window", "reference", "first_day",
    "last_day", "months", "minimum_sample", "seed",
)  # fmt: skip
_SHOWN = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("dataset", metavar="DIR", help="a dataset directory")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--by", metavar="ATTRIBUTE", help="group households by a metadata column")
    which.add_argument(
        "--groups",
        metavar="FILE",
        help="a CSV with the columns household and group, or JSON of lists of ids by group",
    )
    parser.add_argument(
        "--against", metavar="GROUP", help="compare with this group (default: with the rest)"
    )
    parser.add_argument(
        "--during",
        metavar="FILE=VALUE",
        help="count the readings at the times that a table of times and values gives VALUE, such "
        "as prices.csv=High",
    )
    add_flag(parser, PERMUTATIONS)
    parser.add_argument("--out", metavar="FILE", help="write the hours to FILE.parquet or .csv")
    parser.add_argument("--figure", metavar="FILE", help="draw to FILE.png, .svg or .pdf")
    choices = parser.add_argument_group("which readings")
    for name in _CHOICES:
        add_flag(choices, FIELDS[name])


def run(arguments: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    """Compare the groups, write what is asked for, and return the JSON."""
    from core.commands._output_tables import FORMATS, destination, write_frame
    from core.figures.files import FORMATS as FIGURES
    from core.groups import compare_groups, group_by, household_demand, read_groups, read_moments
    from core.readings import Dataset
    from core.runs import RunConfig, Store

    start = time.perf_counter()
    out = destination("--out", arguments.out, FORMATS)
    figure = destination("--figure", arguments.figure, FIGURES)
    permutations = read_flag(arguments, PERMUTATIONS)
    moments = read_moments(arguments.during) if arguments.during else None
    dataset = Dataset.open(arguments.dataset)
    config = RunConfig(**read_fields(arguments))
    if arguments.by:
        grouping = group_by(dataset, arguments.by, households=config.households)
    else:
        grouping = read_groups(arguments.groups, dataset, households=config.households)
    pairs = grouping.pairs(arguments.against)
    if not pairs:
        raise InputError(f"there is no group besides {arguments.against!r} to compare it with")
    if figure and len(pairs) > 1:
        raise InputError(
            f"--figure draws two groups, and there are {len(pairs)} comparisons; name one pair "
            "with --households, or give a --groups FILE with two groups"
        )
    demand = household_demand(
        dataset, config, moments=moments, store=Store.default(), progress=part(progress, 0.0, 0.5)
    )
    comparisons = []
    for done, (first, second) in enumerate(pairs):
        own, others = grouping.sides(first, second)
        comparisons.append(
            compare_groups(
                demand,
                own,
                others,
                names=(first, second),
                permutations=permutations,
                seed=config.seed,
                without_attributes=(arguments.by,) if arguments.by else (),
                progress=part(
                    progress, 0.5 + 0.5 * done / len(pairs), 0.5 + 0.5 * (done + 1) / len(pairs)
                ),
            )
        )
    result: dict[str, Any] = {
        "n": len(demand.households),
        "distance": config.distance,
        "period": None if config.period.is_whole else str(config.period),
        "during": moments.name if moments else None,
        "permutations": permutations,
        "comparisons": [each.to_json() for each in comparisons],
        "notices": [*grouping.notices, *demand.notices],
        "seconds": {"groups": round(time.perf_counter() - start, 3)},
    }
    described = {"dataset": dataset.digest, "config": config.to_json(), "during": arguments.during}
    if out:
        import pandas as pd

        tables = [
            each.hours.assign(group=each.names[0], against=each.names[1]) for each in comparisons
        ]
        write_frame(pd.concat(tables, ignore_index=True), out, described)
        result["out"] = str(out)
    if figure:
        from core.figures import draw_groups, save_figure

        save_figure(draw_groups(comparisons[0]), figure, described)
        result["figure"] = str(figure)
    progress(1.0, "Done")
    return result


def render(result: dict[str, Any]) -> str:
    """Say how the groups differ."""
    lines: list[str] = []
    for each in result["comparisons"]:
        lines += [*_comparison_lines(each, result), ""]
    notices = dict.fromkeys(
        [*result["notices"], *(text for each in result["comparisons"] for text in each["notices"])]
    )
    lines += [f"note          {notice}" for notice in notices]
    lines += [f"written       {result[name]}" for name in ("out", "figure") if name in result]
    lines.append(f"seconds       {result['seconds']['groups']:.1f}")
    return "\n".join(lines)


def _comparison_lines(each: dict[str, Any], result: dict[str, Any]) -> list[str]:
    first, second = each["groups"]
    during = f", when {result['during']}" if result["during"] else ""
    lines = [
        f"{first['name']} ({first['households']:,} households) against {second['name']} "
        f"({second['households']:,}){during}",
        f"  distance    {each['distance']:.3f}; random groups are {each['expected_distance']:.3f} "
        f"apart; p {_p(each['p'])}{_verdict(each['p'])}",
        "  kWh a day   " + _difference_words(each["kwh_per_day"]),
    ]
    if each["relative"]:
        lines.append("  relative    " + _difference_words(each["relative"]))
        lines.append("              (1 is the same household's demand at the same hours otherwise)")
    lines.append("  hours that differ most (mean kWh per interval; p adjusted for all hours)")
    for row in each["hours"][:_SHOWN]:
        lines.append(
            f"    {row['slots']:<22} {row['first']:.3f} against {row['second']:.3f}   "
            f"p {_p(row['p'])}"
        )
    if each["attributes"]:
        lines.append("  attributes that differ most")
    for row in each["attributes"][:_SHOWN]:
        median = row["value"] == "median"
        numbers = [f"{row[side]:g}" if median else f"{row[side]:.0%}" for side in _SIDES]
        lines.append(
            f"    {row['attribute']} {row['value']}: {numbers[0]} against {numbers[1]}   "
            f"q {_p(row['q'])}"
        )
    return lines


_SIDES = ("first", "second")


def _difference_words(part: dict[str, Any]) -> str:
    return (
        f"{part['first']['mean']:.3g} against {part['second']['mean']:.3g}: "
        f"{part['difference']:+.3g} (95 %: {part['low']:+.3g} to {part['high']:+.3g}), "
        f"p {_p(part['p'])}"
    )


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"


def _verdict(p: float) -> str:
    return "" if p <= 0.05 else " (no clear difference)"
