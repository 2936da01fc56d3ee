"""The page: what is where, and what happens when something is touched."""

import uuid
from collections.abc import Callable

import holoviews as hv
import numpy as np
import pandas as pd
import panel as pn
import panel_material_ui as pmui
import param

from core.errors import WattfoldError
from core.readings import Dataset
from core.runs import Run, RunConfig
from dashboard import fits, plots
from dashboard.jobs import Job
from dashboard.state import Explorer

_POLL_MILLISECONDS = 200
_TAP_REACH = 0.03  # of the map's extent

hv.extension("bokeh")
pn.extension("tabulator")


class Page:
    """One session's page on one dataset."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self.session = uuid.uuid4().hex
        self.explorer = Explorer(dataset)
        self.job: Job | None = None
        self.asked: RunConfig | None = None
        self.progress = pmui.LinearProgress(
            value=0, variant="determinate", visible=False, sizing_mode="stretch_width"
        )
        self.status = pmui.Typography("", variant="body2", sizing_mode="stretch_width")
        self.cancel = pmui.Button(label="Cancel", variant="outlined", size="small", visible=False)
        self.cancel.on_click(lambda _: self._give_up())
        self.explorer.param.watch(self._start, Explorer.CHOICES)
        self._start()

    # Runs

    def _start(self, *_: param.parameterized.Event) -> None:
        """Ask for the run that the choices make; the last picture stays until it is there."""
        self._give_up()
        try:
            self.asked = self.explorer.config()
        except WattfoldError as error:
            self._say(str(error))
            return
        self.job = fits.submit(self.session, self.dataset, self.asked)
        self._say("starting")
        self.cancel.visible = True

    def _give_up(self) -> None:
        if self.job is not None:
            fits.pool().cancel(self.session, self.job)
            self.job = None
        self.cancel.visible = self.progress.visible = False
        self._say("")

    def poll(self) -> None:
        """Look how the job is; called a few times a second."""
        job = self.job
        if job is None or self.asked is None:
            return
        if job.state == "queued":
            self._say(f"number {job.position} in the queue")
        elif job.state == "running":
            left = f" · {job.seconds_left:.0f} s left" if job.seconds_left else ""
            self.progress.visible = True
            self.progress.value = round(100 * job.fraction)
            self._say(f"{job.message or 'starting'}{left}")
        else:
            self.job = None
            self.cancel.visible = self.progress.visible = False
            if job.state == "failed":
                self._say(job.error)
                return
            run = fits.load(self.dataset, self.asked)
            self.explorer.show(run)
            self._say(f"{run.n:,} points in {job.seconds:.1f} s")

    def _say(self, text: str) -> None:
        if self.status.object != text:
            self.status.object = text

    # Views

    def _sidebar(self) -> list[pn.viewable.Viewable]:
        choice = self.explorer.param
        stretch = {"sizing_mode": "stretch_width", "size": "small"}
        return [
            pmui.Typography(
                f"{self.dataset.path.name} · {len(self.dataset.households):,} households",
                variant="subtitle2",
            ),
            pmui.Select.from_param(choice.unit, **stretch),
            pmui.AutocompleteInput.from_param(
                choice.household, min_characters=0, visible=choice.unit.rx() == "slots", **stretch
            ),
            pmui.Select.from_param(choice.distance, **stretch),
            pmui.Select.from_param(choice.neighbors, **stretch),
            pmui.IntSlider.from_param(choice.k, **stretch),
            pmui.Select.from_param(choice.method, **stretch),
            pmui.Select.from_param(choice.rank_by, **stretch),
            self.progress,
            self.status,
            self.cancel,
        ]

    def _when_drawn(self, *panes: pn.viewable.Viewable, **layout: object) -> pn.viewable.Viewable:
        """Put the views of a run in place once there is one; until then, say what is going on."""
        waiting = pn.Column(
            pmui.LoadingSpinner(size=60),
            pmui.Typography("The first map is being drawn", variant="body1"),
            align="center",
            margin=(150, 0),
        )
        place = pn.Column(waiting, **layout)

        def put(*_: param.parameterized.Event) -> None:
            place.objects = list(panes)
            self.explorer.param.unwatch(watcher)

        watcher = self.explorer.param.watch(put, "run")
        return place

    def _map(self) -> pn.viewable.Viewable:
        explorer = self.explorer

        def draw(run: Run, color_by: str) -> hv.Overlay:
            return plots.map_plot(run, explorer.colors(), color_by=color_by)

        def ring(run: Run, selected: int) -> hv.Points:
            return plots.selection_ring(run, selected)

        drawn = _live(draw, explorer, "run", "color_by")
        tap = hv.streams.Tap(source=drawn)
        tap.add_subscriber(self._tapped)
        return pn.pane.HoloViews(
            (drawn * _live(ring, explorer, "run", "selected")).opts(
                responsive=True, min_height=300, framewise=True, legend_position="right"
            ),
            linked_axes=False,
            sizing_mode="stretch_both",
        )

    def _tapped(self, x: float | None, y: float | None) -> None:
        run = self.explorer.run
        if x is None or y is None or run is None:
            return
        extent = float(np.ptp(run.y[:, :2], axis=0).max()) or 1.0
        self.explorer.select_near(x, y, _TAP_REACH * extent)

    def _detail(self) -> pn.viewable.Viewable:
        explorer = self.explorer

        def title(selected: int | None) -> str:
            return "" if selected is None else explorer.label(selected)

        def place(selected: int | None) -> str:
            return "" if selected is None else explorer.place(selected)

        def explanation(selected: int | None) -> str:
            return "" if selected is None else explorer.explanation(selected)

        def distribution(run: Run, selected: int) -> hv.Overlay:
            typical = int(run.hdr.typical[0])
            return plots.distribution_plot(
                {
                    explorer.label(selected): explorer.readings(selected)["kwh"].to_numpy(),
                    "most typical": explorer.readings(typical)["kwh"].to_numpy(),
                }
            )

        def week(run: Run, selected: int) -> hv.Overlay:
            readings = self.dataset.readings(str(run.units["household"].iloc[selected]))
            return plots.week_plot(readings, self.dataset.interval_minutes)

        def pane(plot: Callable[..., hv.Overlay]) -> pn.viewable.Viewable:
            drawn = _live(plot, explorer, "run", "selected").opts(framewise=True)
            return pn.pane.HoloViews(drawn, linked_axes=False, sizing_mode="stretch_width")

        heading = {"variant": "subtitle2", "margin": (5, 10, 0, 10)}
        chosen = explorer.param.selected
        return self._when_drawn(
            pmui.Typography(pn.bind(title, chosen), variant="h6", margin=(5, 10, 0, 10)),
            pmui.Typography(pn.bind(place, chosen), variant="body2", margin=(0, 10, 0, 10)),
            pmui.Typography(pn.bind(explanation, chosen), variant="body2", margin=(0, 10, 5, 10)),
            pmui.Typography("Distribution of demand", **heading),
            pane(distribution),
            pmui.Typography("Demand by time of week", **heading),
            pane(week),
            sizing_mode="stretch_width",
        )

    def _anomalies(self) -> pn.viewable.Viewable:
        """The anomalies as a table; a click goes to the point."""
        explorer = self.explorer
        table = pn.widgets.Tabulator(
            pd.DataFrame(),
            show_index=False,
            disabled=True,
            selectable=1,
            height=190,
            sizing_mode="stretch_width",
            layout="fit_data_stretch",
        )

        def fill(*_: param.parameterized.Event) -> None:
            table.value = explorer.anomalies()

        def go(event: pn.models.tabulator.CellClickEvent) -> None:
            explorer.select_label(str(table.value["what"].iloc[event.row]))

        explorer.param.watch(fill, "run")
        table.on_click(go)
        return table

    def view(self) -> pmui.Page:
        """Lay out the page."""
        explore = pn.Row(
            pn.Column(
                pmui.Select.from_param(self.explorer.param.color_by, width=220, size="small"),
                self._when_drawn(self._map(), sizing_mode="stretch_both", min_height=300),
                pmui.Typography("Anomalies", variant="subtitle2", margin=(0, 10)),
                self._anomalies(),
                sizing_mode="stretch_both",
            ),
            pmui.Paper(self._detail(), width=450, margin=10),
            sizing_mode="stretch_both",
        )
        return pmui.Page(
            title="Wattfold", sidebar=self._sidebar(), sidebar_width=290, main=[explore]
        )


def _live(draw: Callable[..., hv.Element], explorer: Explorer, *names: str) -> hv.DynamicMap:
    """Draw again whenever one of the explorer's parameters changes, keeping the view's zoom."""
    return hv.DynamicMap(draw, streams={name: explorer.param[name] for name in names})


def create_page() -> pmui.Page:
    """Make the page of a new session."""
    try:
        dataset = Dataset.open(fits.dataset_path())
    except WattfoldError as error:
        return pmui.Page(title="Wattfold", main=[pmui.Alert(str(error), severity="error")])
    page = Page(dataset)
    pn.state.add_periodic_callback(page.poll, period=_POLL_MILLISECONDS)
    pn.state.on_session_destroyed(lambda _: fits.pool().cancel_session(page.session))
    return page.view()
