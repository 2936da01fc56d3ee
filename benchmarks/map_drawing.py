"""What the page's map costs on the server: to make it, to zoom, to colour, to answer a tap.

    python benchmarks/map_drawing.py [--before DIR] [--points 200 1200000] [--repeats 5]

Draws made-up maps without a browser. With ``--before`` and a checkout of version 0.1, whose map was
a Bokeh figure driven by hand, both are measured in turn. Seconds are of the processor, because
they depend less on what else the machine does; wall-clock seconds follow in brackets. Prints a
table and writes it to benchmarks/results/map-drawing.md. What each layer costs to make is measured
alone, less an empty plot. On an idle machine of two cores it takes five minutes.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results" / "map-drawing.md"
ACTIONS = ("make", "zoom", "colour", "tap")
SIZE = (640, 380)  # pixels, as version 0.1 has it until a browser tells

Times = dict[str, tuple[float, float]]


def measure(action: Callable[[int], object], repeats: int) -> tuple[float, float]:
    """Median seconds of the processor and of the clock, after a first time that does not count."""
    action(0)
    cpu, wall = [], []
    for turn in range(1, repeats + 1):
        before = time.process_time(), time.perf_counter()
        action(turn)
        cpu.append(time.process_time() - before[0])
        wall.append(time.perf_counter() - before[1])
    return statistics.median(cpu), statistics.median(wall)


def made_up_run(n: int) -> Any:
    """What a map needs of a run, with a normal density."""
    import numpy as np
    import pandas as pd

    from core.density import HDR, Contours

    rng = np.random.default_rng(1)
    y = rng.normal(size=(n, 2)) * [2, 1]
    density = np.exp(-((y / [2, 1]) ** 2).sum(axis=1) / 2)
    order = np.argsort(density)
    rank = np.empty(n, np.int64)
    rank[order] = np.arange(1, n + 1)
    thresholds = np.quantile(density, 1 - np.array([1, 20, 40, 60, 80, 99]) / 100)
    hdr = HDR(
        density=density,
        level=(density[:, None] < thresholds).sum(axis=1).astype(np.int8),
        rank=rank,
        anomalies=order[:10],
        typical=order[-10:],
        thresholds=thresholds,
        bandwidth=np.eye(2),
        contours=Contours(np.zeros((2, 2)), np.zeros(2), np.eye(2)),
    )
    labels = [f"home {row}" for row in range(n)]
    units = pd.DataFrame({"label": labels, "household": labels, "mean_kwh": 0.3, "m": 4_416})
    return SimpleNamespace(
        n=n, y=y, hdr=hdr, units=units, config=SimpleNamespace(method="isomap", k=20)
    )


def made_up_explorer(coloring: Callable[[Any, bool], Any], scene: Callable[[Any, Any], Any]) -> Any:
    """What both maps need of an explorer."""
    import numpy as np
    import param

    class Explorer(param.Parameterized):
        run = param.Parameter()
        color_by = param.String("HDR")
        safe_colors = param.Boolean(False)
        dark = param.Boolean(False)
        hidden = param.List([])
        layers = param.List(["points", "labels", "edges"])
        chosen = param.Array(np.empty(0, np.int64))
        selected = param.Integer(None, allow_None=True)
        pins = param.List([])
        ranges = param.Tuple(None, length=4, allow_None=True)
        unusual = param.Parameter()
        listed = param.Parameter()
        list_order = param.Parameter()
        plane = param.Parameter()
        is_stale = param.Boolean(False)

        @property
        def places(self) -> np.ndarray:
            return self.run.y

        def coloring(self) -> Any:
            return coloring(self.run, self.safe_colors)

        def map_scene(self) -> Any:
            return scene(self.run, self.coloring())

        def look_at(self, row: int) -> None:
            self.selected = row

        def label(self, row: int) -> str:
            return str(self.run.units["label"].iat[row])

        def neighbors_of(self, row: int) -> tuple[np.ndarray, None]:
            return np.arange(20), None

    return Explorer()


def now(n: int, repeats: int) -> Times:
    """Measure the map of this checkout."""
    from core.scene import color_levels, density_scene
    from core.scene.shading import warm_up
    from dashboard.explore.map_view import MapView

    run, base = made_up_run(n), []

    def scene(run: Any, coloring: Any) -> Any:
        if not base:
            base.append(density_scene(run.y, run.hdr, run.units["label"].to_numpy()))
        return base[0].with_(coloring=coloring)

    def make() -> tuple[Any, Any]:
        explorer = made_up_explorer(lambda run, safe: color_levels(run.hdr.level, safe=safe), scene)
        view = MapView(explorer)
        explorer.param.update(run=run, selected=0)
        view.streams.size.update(width=SIZE[0], height=SIZE[1])
        view.pane.get_root()
        return explorer, view

    def zoom(view: Any, x: tuple[float, float], y: tuple[float, float]) -> None:
        view.streams.ranges.event(x_range=x, y_range=y)

    def tap(view: Any, x: float, y: float) -> None:
        view.streams.tap.event(x=x, y=y)

    warm_up()
    return _measure_all(run, make, zoom, tap, repeats)


def before(n: int, repeats: int) -> Times:
    """Measure the map of version 0.1."""
    from dashboard.coloring import color_points
    from dashboard.map_layers import warm_up
    from dashboard.map_view import MapView

    run = made_up_run(n)

    def make() -> tuple[Any, Any]:
        explorer = made_up_explorer(
            lambda run, safe: color_points(run, "HDR", interval_minutes=30, safe=safe),
            lambda run, coloring: None,
        )
        view = MapView(explorer)
        explorer.param.update(run=run, selected=0)
        view.pane.get_root()
        return explorer, view

    def zoom(view: Any, x: tuple[float, float], y: tuple[float, float]) -> None:
        view.figure.x_range.update(start=x[0], end=x[1])
        view.figure.y_range.update(start=y[0], end=y[1])
        view._draw_view()

    def tap(view: Any, x: float, y: float) -> None:
        view._tapped(SimpleNamespace(x=x, y=y))

    warm_up()
    return _measure_all(run, make, zoom, tap, repeats)


def _measure_all(run: Any, make: Any, zoom: Any, tap: Any, repeats: int) -> Times:
    made = [make()]

    def again(_: int) -> None:
        made[0] = make()

    times = {"make": measure(again, repeats)}
    explorer, view = made[0]
    times["zoom"] = measure(lambda turn: zoom(view, (-2.0, 1.5 + 0.1 * turn), (-1.0, 1.0)), repeats)
    times["colour"] = measure(
        lambda turn: setattr(explorer, "safe_colors", not explorer.safe_colors), repeats
    )
    times["tap"] = measure(lambda turn: tap(view, *run.y[turn].tolist()), repeats)
    return times


def layers(n: int, repeats: int) -> Times:
    """Measure what each layer costs to make, alone in its plot."""
    import holoviews as hv

    from core.scene import density_scene, holoviews_map
    from core.scene.shading import warm_up

    run = made_up_run(n)
    scene = density_scene(run.y, run.hdr, run.units["label"].to_numpy())
    warm_up()
    streams = holoviews_map.MapStreams()
    streams.show(scene)
    streams.select([0], range(1, 21))

    def draw(name: str) -> None:
        layer = holoviews_map.draw_layers(streams)[name]
        # In a plot that has an extent of its own, as the points give it to all others.
        hv.renderer("bokeh").get_plot(hv.Points([(0, 0), (1, 1)]) * layer)

    bare = measure(lambda _: hv.renderer("bokeh").get_plot(hv.Points([(0, 0), (1, 1)])), repeats)
    found = {"a plot": bare}
    for name in holoviews_map.draw_layers(streams):
        cpu, wall = measure(lambda _, name=name: draw(name), repeats)
        found[name] = cpu - bare[0], wall - bare[1]
    return found


def table(heading: str, columns: dict[str, dict[str, Times]]) -> list[str]:
    """Rows of what was measured, one column for each map and number of points."""
    heads = [f"{map_name}, {points}" for points, maps in columns.items() for map_name in maps]
    found = [times for maps in columns.values() for times in maps.values()]
    lines = [f"| {heading} | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for name in found[0]:
        cells = [f"{times[name][0]:.3f} ({times[name][1]:.3f})" for times in found]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, help="a checkout of version 0.1")
    parser.add_argument("--points", type=int, nargs="+", default=[200, 1_200_000])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", choices=("now", "before", "layers"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.only:
        sys.path.insert(0, str(arguments.before or ROOT))
        import holoviews as hv

        hv.extension("bokeh")
        work = {"now": now, "before": before, "layers": layers}[arguments.only]
        print(json.dumps(work(arguments.points[0], arguments.repeats)))
        return

    def run(only: str, points: int) -> Times:
        where = ["--before", str(arguments.before)] if only == "before" else []
        count = ["--points", str(points), "--repeats", str(arguments.repeats)]
        command = [sys.executable, __file__, "--only", only, *where, *count]
        found = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        return dict(json.loads(found.stdout.splitlines()[-1]))

    whole: dict[str, dict[str, Times]] = {}
    parts: dict[str, dict[str, Times]] = {}
    for points in arguments.points:
        name = f"{points:,} points"
        whole[name] = {"HoloViews": run("now", points)}
        if arguments.before:
            whole[name]["by hand"] = run("before", points)
        parts[name] = {"HoloViews": run("layers", points)}
    lines = [
        "# The map's drawing",
        "",
        "`python benchmarks/map_drawing.py`, see its head for what is measured. Median seconds of "
        "the processor, in brackets of the clock.",
        "",
        *table("all layers", whole),
        "",
        *table("to make one layer", parts),
    ]
    print("\n".join(lines))
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
