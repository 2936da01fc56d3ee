"""``wattfold watch``: new weeks against a map and against every household's own past."""

import argparse
from typing import Any

from core.commands._engine_flags import add_engine, read_engine
from core.commands._run_flags import read_households
from core.progress import Progress, part

NAME = "watch"
HELP = "judge the newest weeks of every household and list alerts"

# The false discovery rate at which a week is worth a look.
_DEFAULT_Q = 0.1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("map", metavar="MAP", help="a map, as embed --save-map writes it")
    parser.add_argument("dataset", metavar="DIR", help="a dataset directory with the new readings")
    parser.add_argument(
        "--since",
        metavar="DATE",
        help="judge every week that is over and has a day from DATE on (default: the last one)",
    )
    parser.add_argument(
        "--q",
        type=float,
        default=_DEFAULT_Q,
        metavar="Q",
        help=f"the share of false alerts to put up with (default {_DEFAULT_Q})",
    )
    parser.add_argument(
        "--households", metavar="ID,ID|@FILE", help="list alerts of these alone (default all)"
    )
    parser.add_argument(
        "--out", metavar="FILE", help="write the alerts to FILE.parquet or FILE.csv"
    )
    add_engine(parser)


def run(arguments: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    """Judge the weeks, write what is asked for, and return the JSON."""
    from core.commands._output_tables import FORMATS, destination, write_frame
    from core.errors import InputError
    from core.over_time import describe_alerts, watch
    from core.periods import parse_date
    from core.placement import SavedMap
    from core.readings import Dataset

    if not 0 < arguments.q <= 1:
        raise InputError(f"--q must be more than 0 and at most 1, got {arguments.q:g}")
    out = destination("--out", arguments.out, FORMATS)
    households = read_households(arguments.households) if arguments.households else None
    since = parse_date(arguments.since, end=False) if arguments.since else None
    saved = SavedMap.open(arguments.map)
    dataset = Dataset.open(arguments.dataset)
    with read_engine(arguments, dataset) as engine:
        found = watch(
            saved, dataset, since=since, engine=engine, progress=part(progress, 0.0, 0.95)
        )
    alerts = describe_alerts(found, dataset, q=arguments.q, households=households)
    result = {
        "weeks": [str(week) for week in found.weeks],
        "judged": len(found.judged),
        "n_alerts": len(alerts),
        "alerts": _records(alerts),
        "incomplete": _records(found.incomplete),
        "q": arguments.q,
    }
    if out:
        description = {"map": saved.digest, "config": saved.config.to_json()}
        write_frame(alerts, out, {**description, "dataset": dataset.digest, "q": arguments.q})
        result["out"] = str(out)
    progress(1.0, "Done")
    return result


def render(result: dict[str, Any]) -> str:
    """Say who did something new."""
    from core.anomalies.words import q_words

    weeks = result["weeks"]
    span = weeks[0] if len(weeks) == 1 else f"{weeks[0]} to {weeks[-1]}"
    lines = [
        f"weeks         from Monday {span}",
        f"judged        {result['judged']:,} household weeks; {len(result['incomplete']):,} more "
        "have too few readings",
        f"alerts        {result['n_alerts']:,} with q at most {result['q']:g}: at most "
        f"{result['q'] * result['n_alerts']:.1f} of them are expected to be false",
    ]
    if result["alerts"]:
        width = max(len("household"), *(len(row["household"]) for row in result["alerts"]))
        lines += ["", f"week        {'household':<{width}}       q  what"]
        lines += [
            f"{row['week']}  {row['household']:<{width}}  {q_words(row['q']):>6}  {row['reason']}"
            for row in result["alerts"]
        ]
    lines += [f"written       {result['out']}"] if "out" in result else []
    return "\n".join(lines)


def _records(table: Any) -> list[dict[str, Any]]:
    """Rows as JSON has them; weeks as ISO dates, what is not known as null."""
    dated = table.assign(week=table["week"].astype("datetime64[s]").dt.strftime("%Y-%m-%d"))
    return [
        {name: None if value != value else value for name, value in row.items()}
        for row in dated.to_dict("records")
    ]
