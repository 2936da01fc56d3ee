"""``wattfold ingest``: files of meter readings -> a dataset directory."""

import argparse
from typing import Any

from core.commands.accounts import accounts_text, dataset_accounts
from core.progress import Progress

NAME = "ingest"
HELP = "read files of meter readings into a dataset directory"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    from core.readings.formats import FORMATS

    parser.add_argument(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="CSV or text files, plain, .gz or .zip, or Parquet; together one dataset",
    )
    parser.add_argument("--to", required=True, metavar="DIR", help="the dataset directory to write")
    parser.add_argument(
        "--format",
        choices=["auto", *FORMATS],
        default="auto",
        help="; ".join(f"{name}: {format.help}" for name, format in FORMATS.items()),
    )
    parser.add_argument("--id-column", metavar="NAME", help="the column of households")
    parser.add_argument(
        "--time-column",
        action="append",
        default=[],
        metavar="NAME",
        help="the column of times; give it twice for a date and a time column",
    )
    parser.add_argument("--value-column", metavar="NAME", help="the column of readings in kWh")
    parser.add_argument(
        "--ignore-column",
        action="append",
        default=[],
        metavar="NAME",
        help="a column of a wide table that is no household; may be given again",
    )
    parser.add_argument(
        "--time-format", metavar="FORMAT", help="how times are written, as %%d/%%m/%%Y %%H:%%M"
    )
    parser.add_argument(
        "--stamp",
        choices=["start", "end"],
        help="which end of its interval a time marks (default: what the format says)",
    )
    parser.add_argument(
        "--timezone",
        metavar="ZONE",
        help="where the meters are, as Europe/Dublin: gives the days on which clocks change",
    )
    parser.add_argument(
        "--interval",
        type=int,
        metavar="MINUTES",
        help="take this interval and reject households with another (default: detected)",
    )
    parser.add_argument(
        "--allow-negative", action="store_true", help="keep negative readings (net export)"
    )
    parser.add_argument(
        "--allocation", metavar="FILE", help="cer: the table that says which meters are residential"
    )
    parser.add_argument("--metadata", metavar="FILE", help="a table with one row a household")
    parser.add_argument(
        "--metadata-id-column", metavar="NAME", help="the metadata's column of households"
    )


def run(arguments: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    """Ingest and return the accounts."""
    from core.readings import IngestOptions, ingest

    options = IngestOptions(
        format=arguments.format,
        id_column=arguments.id_column,
        time_columns=tuple(arguments.time_column),
        value_column=arguments.value_column,
        ignore_columns=tuple(arguments.ignore_column),
        time_format=arguments.time_format,
        stamp=arguments.stamp,
        timezone=arguments.timezone,
        interval_minutes=arguments.interval,
        allow_negative=arguments.allow_negative,
        allocation=arguments.allocation,
    )
    dataset = ingest(
        arguments.sources,
        arguments.to,
        options=options,
        metadata=arguments.metadata,
        metadata_id_column=arguments.metadata_id_column,
        progress=progress,
    )
    return dataset_accounts(dataset)


def render(result: dict[str, Any]) -> str:
    """Say what came in, and what to do next."""
    return f"{accounts_text(result)}\nlook at it:   wattfold serve {result['path']}"
