"""``wattfold study``: the paper's study on one's own data, as a report."""

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.commands._run_flags import add_choices, read_fields, read_parameters
from core.errors import InputError
from core.progress import Progress, part

if TYPE_CHECKING:
    from core.study import StudyPlan

NAME = "study"
HELP = "compare six methods on exact and approximate neighbours, and write a report"

# What the study chooses by itself.
_OWN = ("neighbors", "method", "quality")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    from core.embedding import METHODS
    from core.neighbors.searches import SEARCHES

    parser.add_argument("dataset", metavar="DIR", help="a dataset directory")
    parser.add_argument(
        "--out", metavar="DIR", required=True, help="the directory to write; an earlier study goes"
    )
    add_choices(parser, without=_OWN)
    compared = parser.add_argument_group("what to compare")
    compared.add_argument(
        "--methods", metavar="A,B", help=f"only these methods (default {','.join(METHODS)})"
    )
    compared.add_argument(
        "--backends",
        metavar="A,B",
        help=f"these neighbour backends (default {','.join(SEARCHES)}); kdtree-exact is the k-d "
        "tree with ε = 0",
    )


def run(arguments: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    """Run the study, write it, and return its rows."""
    from core.readings import Dataset
    from core.runs import Store
    from core.study import run_study
    from core.study.report import check_destination, write_study

    plan = read_plan(arguments)
    out = Path(arguments.out)
    check_destination(out)  # before the work, not after it
    dataset = Dataset.open(arguments.dataset)
    if out.resolve() == dataset.path.resolve():
        raise InputError(f"--out {out} is the dataset itself; choose another place to write to")
    started = time.perf_counter()
    study = run_study(dataset, plan, store=Store.default(), progress=part(progress, 0.0, 0.9))
    first = study.featured
    result = {
        "n": first.n,
        "n_bins": first.n_bins,
        "unit": plan.config.unit,
        "distance": plan.config.distance,
        "rows": [cell.to_json() for cell in study.cells],
        "left_out": first.left_out.to_dict("records"),
        "seconds": round(time.perf_counter() - started, 2),
        "peak_memory_mb": round(max(run.peak_memory_mb for run in study.runs), 1),
        "config": plan.config.to_json(),
        "out": str(out),
    }
    write_study(
        study,
        out,
        result=result,
        command=plan.command_line(arguments.dataset, arguments.out),
        progress=part(progress, 0.9, 1.0),
    )
    return result


def read_plan(arguments: argparse.Namespace) -> "StudyPlan":
    """Make the plan of what was given."""
    from core.embedding import METHODS
    from core.runs import RunConfig
    from core.study import SEARCHES, StudyPlan

    return StudyPlan(
        config=RunConfig(**read_fields(arguments)),
        methods=_names(arguments.methods, METHODS),
        searches=_names(arguments.backends, SEARCHES),
        parameters=read_parameters(arguments),
    )


def render(result: dict[str, Any]) -> str:
    """Say which map is how faithful, and where the report is."""
    lines = [
        f"points        {result['n']:,} {result['unit']}, {result['distance']}, "
        f"{result['n_bins']} bins",
    ]
    if result["left_out"]:
        lines.append(f"left out      {len(result['left_out']):,}")
    lines += ["", f"{'method':<12}{'neighbours':<14}{'recall':>8}{'trust':>8}{'seconds':>10}"]
    for row in result["rows"]:
        name = f"{row['method']:<12}{row['search']:<14}"
        if row["error"] is not None:
            lines.append(f"{name}failed: {row['error']}")
            continue
        took = [row["computed_in"].get(stage) for stage in ("neighbors", "embedding")]
        seconds = "" if None in took else f"{sum(took):.2f}"
        numbers = (row["recall"], (row["quality"] or {}).get("trustworthiness"))
        texts = ["" if number is None else f"{number:.3f}" for number in numbers]
        lines.append(f"{name}{texts[0]:>8}{texts[1]:>8}{seconds:>10}")
    return "\n".join([*lines, "", f"report        {Path(result['out']) / 'report.html'}"])


def _names(text: str | None, default: Any) -> tuple[str, ...]:
    if text is None:
        return tuple(default)
    return tuple(name.strip() for name in text.split(",") if name.strip())
