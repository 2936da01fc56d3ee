"""``wattfold embed --against``: two periods on one map, and who moved."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import InputError
from core.progress import Progress, part

if TYPE_CHECKING:
    from core.over_time import PeriodComparison
    from core.runs import RunConfig

# How many households the figure and the JSON name.
_NAMED = 10


def add_against(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the second period."""
    group = parser.add_argument_group("two periods")
    group.add_argument(
        "--against",
        metavar="FROM..TO",
        help="compare the period of --from and --to with this one: both on one map, and who moved",
    )
    group.add_argument(
        "--weather",
        metavar="FILE",
        help="outdoor temperatures (time, temperature): compare at equal cold (with --against)",
    )


def compare(
    arguments: argparse.Namespace,
    config: "RunConfig",
    *,
    out: Path | None,
    figure: Path | None,
    progress: Progress,
) -> dict[str, Any]:
    """Compare the two periods, write what is asked for, and return the JSON."""
    from core.commands._output_tables import write_frame
    from core.over_time import compare_periods
    from core.periods import Period
    from core.readings import Dataset
    from core.weather import read_weather

    if config.period.is_whole:
        raise InputError("--against compares two periods; give the first one by --from and --to")
    if arguments.save_map:
        raise InputError("--save-map writes the map of one period; leave --against out")
    against = Period.parse_range(arguments.against)
    weather = read_weather(arguments.weather) if arguments.weather else None
    dataset = Dataset.open(arguments.dataset)
    found = compare_periods(
        dataset, config, against, weather=weather, progress=part(progress, 0.0, 0.95)
    )
    table = found.table()
    result = {
        "n": len(table),
        "unit": config.unit,
        "distance": config.distance,
        "method": config.method,
        "period": str(found.first),
        "against": str(found.second),
        "season": found.season,
        "season_shift": found.season_shift.tolist(),
        "moved": table.head(_NAMED).to_dict("records"),
        "significant": int((found.q <= 0.1).sum()),
        "left_out": list(found.left_out),
        "notices": list(found.notices),
        "config": config.to_json(),
    }
    description = {
        "dataset": dataset.digest,
        "config": config.to_json(),
        "against": against.to_json(),
    }
    if out:
        write_frame(table, out, description)
        result["out"] = str(out)
    if figure:
        progress(0.97, "Drawing")
        _draw(found, figure, description)
        result["figure"] = str(figure)
    progress(1.0, "Done")
    return result


def render_moves(result: dict[str, Any]) -> str:
    """Say who moved."""
    lines = [
        f"periods       {result['period']} and {result['against']}",
        f"households    {result['n']:,} on one map by {result['method']}",
        f"mean shift    {result['season']:.2f} of the way between two typical households: "
        "the season, taken out below",
        f"moved         {result['significant']:,} with q at most 0.1",
        "",
    ]
    if result["moved"]:
        width = max(len("household"), *(len(row["household"]) for row in result["moved"]))
        lines.append(f"rank  {'household':<{width}}  moved  by chance      q  kWh per week")
        lines += [
            f"{row['rank']:>4}  {row['household']:<{width}}  {row['moved']:>5.2f}  "
            f"{row['by_chance']:>9.2f}  {row['q']:>5.3f}  {row['kwh_per_week']:>+12.1f}"
            for row in result["moved"]
        ]
        lines.append("")
    if result["left_out"]:
        lines.append(f"left out      {len(result['left_out']):,} with too few readings in one")
    lines += [f"note          {notice}" for notice in result["notices"]]
    lines += [f"written       {result[name]}" for name in ("out", "figure") if name in result]
    return "\n".join(lines)


def _draw(found: "PeriodComparison", path: Path, description: dict[str, Any]) -> None:
    import numpy as np

    from core.figures import draw_moves
    from core.figures.files import save_figure

    order = np.argsort(-found.excess, kind="stable")[:_NAMED]
    figure = draw_moves(
        found.y_first,
        found.y_second,
        labels=found.households,
        named=order,
        title=f"{found.first} → {found.second}",
    )
    save_figure(figure, path, description)
