"""`wattfold demo`: make a dataset of synthetic households."""

import argparse
from typing import Any

import pyarrow.parquet as pq

from core.demo import KINDS, TRUTH, make_demo
from core.demo.generate import OPTIONS
from core.progress import Progress

NAME = "demo"
HELP = "make a dataset of synthetic households, with planted anomalies and the truth about them"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("path", metavar="DIR", help="where to write the dataset")
    for option in OPTIONS:
        parser.add_argument(
            option.flag,
            type=option.kind,
            default=option.default,
            metavar="N",
            help=f"{option.help} (default {option.default})".replace("%", "%%"),
        )


def run(args: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    """Make the dataset and say what is in it."""
    dataset = make_demo(
        args.path, households=args.households, days=args.days, seed=args.seed, progress=progress
    )
    health, households = dataset.health, dataset.households
    kinds = pq.read_table(dataset.path / TRUTH)["kind"].to_pylist()
    return {
        "path": str(dataset.path),
        "households": len(households),
        "readings": health["accepted"],
        "accepted": health["accepted"],
        "collapsed": health["collapsed"],
        "rejected": health["rejected"],
        "rejected_by_reason": health["rejected_by_reason"],
        "interval_minutes": dataset.interval_minutes,
        "first": households["first"].min().isoformat(),
        "last": households["last"].max().isoformat(),
        "missing_share": float(households["missing_share"].mean()),
        "planted": {kind: kinds.count(kind) for kind in KINDS},
    }


def render(result: dict[str, Any]) -> str:
    """Tell people what was made."""
    planted = ", ".join(f"{count} {kind}" for kind, count in result["planted"].items() if count)
    return "\n".join(
        [
            f"{result['path']}: {result['households']:,} households, "
            f"{result['readings']:,} readings every {result['interval_minutes']} minutes",
            f"from {result['first']} to {result['last']}, {result['missing_share']:.1%} missing",
            f"planted anomalies: {planted or 'none, there are too few households'} (see {TRUTH})",
        ]
    )
