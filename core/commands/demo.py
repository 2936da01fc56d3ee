"""``wattfold demo``: make a dataset of synthetic households."""

import argparse
from typing import Any

from core.demo import OPTIONS, TRUTH
from core.progress import Progress

NAME = "demo"
HELP = "make a dataset of synthetic households, with planted anomalies and the truth about them"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("path", metavar="DIR", help="the dataset directory to write")
    for option in OPTIONS:
        parser.add_argument(
            option.flag,
            type=option.kind,
            default=option.default,
            metavar="N",
            help=f"{option.help} (default {option.default})",
        )


def run(arguments: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    """Make the dataset; return its accounts and how many anomalies of each kind it has."""
    import pyarrow.parquet as pq

    from core.demo import make_demo
    from core.demo.planted_faults import KINDS, MORE_KINDS
    from core.readings.accounts import dataset_accounts

    sizes = {option.name: getattr(arguments, option.name) for option in OPTIONS}
    dataset = make_demo(arguments.path, **sizes, progress=progress)
    kinds = pq.read_table(dataset.path / TRUTH)["kind"].to_pylist()
    planted = {kind: kinds.count(kind) for kind in (*KINDS, *MORE_KINDS)}
    return {**dataset_accounts(dataset), "planted": planted}


def render(result: dict[str, Any]) -> str:
    """Say what was made, and what to do next."""
    from core.readings.accounts import accounts_text

    lines = [accounts_text(result)]
    planted = ", ".join(f"{count} {kind}" for kind, count in result["planted"].items() if count)
    if planted:
        lines.append(f"planted       {planted} (listed in {TRUTH})")
    lines.append(f"look at it:   wattfold serve {result['path']}")
    return "\n".join(lines)
