"""``wattfold embed``: a dataset -> a map, its anomalies and how faithful it is."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.commands._against import add_against, compare, render_moves
from core.commands._engine_flags import add_engine, read_engine
from core.commands._run_flags import add_choices, read_config
from core.errors import InputError
from core.progress import Progress, part

if TYPE_CHECKING:
    from core.runs import Run

NAME = "embed"
HELP = "make a map of a dataset and name its anomalies"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("dataset", metavar="DIR", help="a dataset directory")
    add_choices(parser)
    parser.add_argument(
        "--out", metavar="FILE", help="write the points to FILE.parquet or FILE.csv"
    )
    parser.add_argument(
        "--figure", metavar="FILE", help="draw the map to FILE.png, FILE.svg or FILE.pdf"
    )
    parser.add_argument(
        "--save-map", metavar="MAP", help="write the map to a directory for wattfold place"
    )
    add_against(parser)
    add_engine(parser)


def run(arguments: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    """Run the config, write what is asked for, and return the run's JSON."""
    from core.commands._output_tables import FORMATS, destination, write_table
    from core.figures.files import FORMATS as FIGURE_FORMATS
    from core.placement import check_map_replaceable, save_map
    from core.readings import Dataset
    from core.runs import Runner, Store

    config = read_config(arguments)
    # Say what cannot be written before the work, not after it.
    out = destination("--out", arguments.out, FORMATS)
    figure = destination("--figure", arguments.figure, FIGURE_FORMATS)
    if arguments.against:
        return compare(arguments, config, out=out, figure=figure, progress=progress)
    if arguments.weather:
        raise InputError("--weather is for two periods; give the second one by --against")
    saved = Path(arguments.save_map) if arguments.save_map else None
    if saved:
        check_map_replaceable(saved)
    dataset = Dataset.open(arguments.dataset)
    with read_engine(arguments, dataset) as engine:
        runner = Runner(dataset, store=Store.default(), engine=engine)
        result = runner.run(config, progress=part(progress, 0.0, 0.95))
        if saved:
            progress(0.95, "Saving the map")
            save_map(saved, result, *runner.inputs(config))
    if out:
        write_table(result, out)
    if figure:
        progress(0.97, "Drawing")
        _draw(result, figure)
    progress(1.0, "Done")
    written = {"out": out, "figure": figure, "map": saved}
    return (
        result.to_json()
        | _kept_by_axes(result)
        | {name: str(path) for name, path in written.items() if path}
    )


def _kept_by_axes(run: Any) -> dict[str, list[float]]:
    """What share of neighbours one axis keeps, two, and more, where a map has more than two."""
    from core.density import kept_by_dimension

    if run.y.shape[1] <= 2:
        return {}
    kept = kept_by_dimension(run.y, run.neighbors.indices[:, : run.config.k])
    return {"kept_by_axes": [round(float(share), 4) for share in kept]}


def render(result: dict[str, Any]) -> str:
    """Say what the map shows."""
    if "against" in result:
        return render_moves(result)
    neighbors = dict(result["neighbors"])
    backend, k = neighbors.pop("backend"), neighbors.pop("k")
    settings = ", ".join(f"{name} {value}" for name, value in neighbors.items())
    lines = [
        *([f"period        {result['period']}"] if result["period"] else []),
        f"points        {result['n']:,} {result['unit']}, "
        f"{result['distance']}, {result['n_bins']} bins",
        f"neighbours    {k} each by {backend}" + (f" ({settings})" if settings else ""),
        f"map           {result['method']}, "
        + ("connected" if result["components"] == 1 else f"{result['components']} components"),
    ]
    if "kept_by_axes" in result:
        kept = ", ".join(
            f"{count}: {share:.0%}" for count, share in enumerate(result["kept_by_axes"], start=1)
        )
        lines.append(f"axes          neighbours kept, by number of axes: {kept}")
    if result["recall"] is not None:
        lines.append(f"recall        {result['recall']:.4f}")
    if result["quality"] is not None:
        lines += [
            f"  {name:<16}{'undefined' if value is None else f'{value:.4f}'}"
            for name, value in result["quality"].items()
        ]
    if result["left_out"]:
        lines.append(f"left out      {len(result['left_out']):,} {result['unit']}")
    lines.append(f"typical       {_some(result['typical'])}")
    if result["anomalies"]:
        width = max(len("anomaly"), *(len(row["label"]) for row in result["anomalies"]))
        lines += ["", f"rank  {'anomaly':<{width}}  HDR %     density"]
        lines += [
            f"{row['rank']:>4}  {row['label']:<{width}}  {row['hdr']:>5}  {row['density']:>10.4g}"
            for row in result["anomalies"]
        ]
    lines.append("")
    lines += [f"note          {notice}" for notice in result["notices"]]
    lines += [
        f"written       {result[name]}" for name in ("out", "figure", "map") if name in result
    ]
    spent = [f"{stage} {value:.2f}" for stage, value in result["seconds"].items() if value]
    cached = f"; stored before: {', '.join(result['cached'])}" if result["cached"] else ""
    lines.append(f"seconds       {', '.join(spent) or 'none'}{cached}")
    return "\n".join(lines)


def _some(labels: list[str]) -> str:
    more = f" and {len(labels) - 5:,} more" if len(labels) > 5 else ""
    return ", ".join(labels[:5]) + more


def _draw(result: "Run", path: Path) -> None:
    from core.embedding import METHODS
    from core.export import Provenance
    from core.export.figure_views import write_figure
    from core.figures import draw_hdr_map

    title = f"{METHODS[result.config.method].title} of {result.n:,} {result.config.unit}"
    if not result.config.period.is_whole:
        title += f", {result.config.period}"
    labels = result.units["label"].to_numpy()
    figure = draw_hdr_map(result.y, result.hdr, labels, title=title)
    write_figure(figure, path, Provenance.of(result))
