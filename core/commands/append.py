"""``wattfold append``: more readings for a dataset directory."""

import argparse
from typing import Any

from core.commands.ingest_options import add_options, said_options
from core.progress import Progress

NAME = "append"
HELP = "add readings to a dataset directory"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("dataset", metavar="DIR", help="a dataset directory")
    parser.add_argument(
        "sources", nargs="+", metavar="SOURCE", help="files, folders and archives, as for ingest"
    )
    add_options(parser)


def run(arguments: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    """Append and return the accounts of the dataset and of what was appended."""
    from core.readings import IngestOptions, append
    from core.readings.accounts import dataset_accounts

    options = IngestOptions(**said_options(arguments))
    done = append(arguments.dataset, arguments.sources, options=options, progress=progress)
    names = ("input", "added", "corrected", "collapsed", "rejected", "new_households")
    return {
        **dataset_accounts(done.dataset),
        "appended": {name: getattr(done, name) for name in names},
        "skipped": list(done.skipped),
    }


def render(result: dict[str, Any]) -> str:
    """Say what came in, and what the dataset holds now."""
    from core.readings.accounts import accounts_text

    new = result["appended"]
    lines = [
        f"appended      {new['input']:,} = {new['added']:,} added + {new['corrected']:,} corrected "
        f"+ {new['collapsed']:,} collapsed + {new['rejected']:,} rejected",
        f"new           {new['new_households']:,} households",
    ]
    lines += [f"skipped       {name}: it is in the dataset already" for name in result["skipped"]]
    return "\n".join([*lines, accounts_text(result)])
