"""``wattfold info``: what is in a dataset directory."""

import argparse
from typing import Any

from core.progress import Progress, part

NAME = "info"
HELP = "say what is in a dataset directory"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("dataset", metavar="DIR", help="a dataset directory")
    parser.add_argument(
        "--verify", action="store_true", help="read every file and compare it with its checksum"
    )


def run(arguments: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    """Open the dataset; return its accounts and how many readings stand behind a slot."""
    from core.cube import build_cube, sample_size_summary
    from core.readings import Dataset
    from core.readings.accounts import dataset_accounts

    dataset = Dataset.open(arguments.dataset)
    if arguments.verify:
        progress(0.1, "verifying checksums")
        dataset.verify()
    accounts = dataset_accounts(dataset)
    # Counted once and kept: the first map needs the counts too.
    cube = build_cube(dataset, progress=part(progress, 0.3, 1.0))
    return {**accounts, "cube": sample_size_summary(cube)}


def render(result: dict[str, Any]) -> str:
    """Say what is in the dataset."""
    from core.readings.accounts import accounts_text

    cube = result["cube"]
    m = cube["sample_size"]
    merged = "" if cube["n_bins"] == cube["bins"] else f" of {cube['bins']}, the others coincide"
    empty = f", {cube['empty_slots']:,} empty" if cube["empty_slots"] else ""
    return "\n".join(
        [
            accounts_text(result),
            f"bins          {cube['n_bins']}{merged}",
            f"a slot has    {m['min']:,} to {m['max']:,} readings, median {m['median']:g}{empty}",
        ]
    )
