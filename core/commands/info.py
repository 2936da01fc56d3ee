"""``wattfold info``: what is in a dataset directory."""

import argparse
from typing import Any

from core.commands.accounts import accounts_text, dataset_accounts
from core.progress import Progress

NAME = "info"
HELP = "say what is in a dataset directory"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("dataset", metavar="DIR", help="a dataset directory")
    parser.add_argument(
        "--verify", action="store_true", help="read every file and compare it with its checksum"
    )


def run(arguments: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    """Open the dataset and return its accounts."""
    from core.readings import Dataset

    dataset = Dataset.open(arguments.dataset)
    if arguments.verify:
        progress(0.1, "verifying checksums")
        dataset.verify()
    return dataset_accounts(dataset)


def render(result: dict[str, Any]) -> str:
    """Say what is in the dataset."""
    return accounts_text(result)
