"""``wattfold ingest``: files of meter readings -> a dataset directory."""

import argparse
from typing import Any

from core.commands.ingest_options import add_options, said_options
from core.progress import Progress

NAME = "ingest"
HELP = "read files of meter readings into a dataset directory"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="files, folders and archives of CSV or text (plain or .gz), Excel, JSON or Parquet; "
        "together one dataset",
    )
    parser.add_argument("--to", required=True, metavar="DIR", help="the dataset directory to write")
    add_options(parser)
    parser.add_argument("--metadata", metavar="FILE", help="a table with one row per household")
    parser.add_argument(
        "--metadata-id-column", metavar="NAME", help="the metadata's column of households"
    )


def run(arguments: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    """Ingest and return the accounts."""
    from core.readings import IngestOptions, ingest
    from core.readings.accounts import dataset_accounts

    options = IngestOptions(**said_options(arguments))
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
    from core.readings.accounts import accounts_text

    return f"{accounts_text(result)}\nlook at it:   wattfold serve {result['path']}"
