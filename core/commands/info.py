"""``wattfold info``: what is in a dataset directory."""

import argparse
from typing import Any

from core.progress import Progress, part

NAME = "info"
HELP = "say what is in a dataset directory"

# The households whose intrinsic dimension is estimated.
_DIMENSION_OF = 2000


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
    cube = build_cube(dataset, progress=part(progress, 0.3, 0.7))
    dimension = _dimension(dataset, cube, part(progress, 0.7, 1.0))
    return {**accounts, "cube": sample_size_summary(cube), "intrinsic_dimension": dimension}


def _dimension(dataset: Any, cube: Any, progress: Progress) -> dict[str, Any] | None:
    """Estimate how many dimensions the households' weeks have; None where too few can be."""
    from core.errors import InputError
    from core.neighbors import find_neighbors
    from core.quality import two_nn
    from core.vectors import make_vectors

    households = dataset.households["household"]
    # Evenly spaced ones are enough, and take a second.
    some = households.iloc[:: -(-len(households) // _DIMENSION_OF)].tolist()
    try:
        vectors = make_vectors(cube, dataset, households=some)
    except InputError:  # no household has readings enough
        return None
    if len(vectors.x) < 3:
        return None
    nearest = find_neighbors(vectors, k=2, backend="exact", progress=progress)
    dimension = two_nn(nearest.distances)
    return None if dimension is None else vars(dimension)


def render(result: dict[str, Any]) -> str:
    """Say what is in the dataset."""
    from core.readings.accounts import accounts_text

    cube = result["cube"]
    m = cube["sample_size"]
    merged = "" if cube["n_bins"] == cube["bins"] else f" of {cube['bins']}, the others coincide"
    empty = f", {cube['empty_slots']:,} empty" if cube["empty_slots"] else ""
    found, dimension = result["intrinsic_dimension"], []
    if found:
        between = f"{found['low']:.1f} to {found['high']:.1f}"
        dimension = [
            f"dimension     {found['value']:.1f} ({between}) of the households' weeks, noise "
            "of few readings included, by TWO-NN"
        ]
    return "\n".join(
        [
            accounts_text(result),
            f"bins          {cube['n_bins']}{merged}",
            f"a slot has    {m['min']:,} to {m['max']:,} readings, median {m['median']:g}{empty}",
            *dimension,
        ]
    )
