"""The form of an export: what, in which format, how large, with which household ids."""

import panel as pn
import panel_material_ui as pmui
import param

from core.errors import WattfoldError
from core.export.figure_views import (
    CM_PER_INCH,
    FONT_SIZE,
    FONTS,
    WIDTH_CM,
    Paper,
    installed_fonts,
)
from core.study.run_report import Remarks
from dashboard.compare import Comparison
from dashboard.export.file_job import FileJob
from dashboard.jobs import FollowedJob, export_jobs
from dashboard.jobs.export_jobs import KINDS, ExportRequest
from dashboard.jobs.workspace import Workspace
from dashboard.page_schedule import on_click
from dashboard.state import Explorer
from dashboard.widgets import PlainText, column

_POINTS = {
    "selected": "the selected point",
    "pinned": "the pinned points",
    "chosen": "the points chosen on the map",
}
_PRIVACY = {
    "Household ids as they are": "keep",
    "Codes instead of ids": "hash",
    "No ids": "drop",
}
_COLUMNS = (
    "Columns that identify a household, and notes, are left out, and a map that has their colours "
    "shows density instead; saved groups get numbers for names."
)
_ABOUT_PRIVACY = {
    "keep": "",
    "hash": "Every household gets a code that is the same throughout this file and different in "
    "the next; nobody can look it up. {columns}",
    "drop": "Points are named by their anomaly rank. {columns}",
}
_SCOPES = {
    "All methods and the paper's searches": False,
    "This map's method and neighbours alone": True,
}
_FIELD: dict = {"size": "small", "margin": (6, 6)}
# Of the dialog's width, in pixels, less the margins of fields.
_WHOLE, _HALF, _THIRD = 548, 268, 174


class ExportForm:
    """The fields, and the button that starts the export.

    Put ``panel`` on the page and call :meth:`refresh` when it is opened.
    """

    def __init__(
        self,
        workspace: Workspace,
        explorer: Explorer,
        job: FileJob,
        comparison: Comparison,
    ) -> None:
        self.workspace = workspace
        self.explorer = explorer
        self.comparison = comparison
        self.job = job
        self._make_fields()
        self.panel = self._layout()
        self.refresh()
        # Takes seconds on a machine where nobody has looked before.
        workspace.pool.call(installed_fonts).on_end(self._offer_fonts)

    def _make_fields(self) -> None:
        self.kind = pmui.Select(
            label="What",
            options={kind.title: name for name, kind in KINDS.items()},
            value="map",
            width=_HALF,
            **_FIELD,
        )
        self.format = pmui.Select(label="Format", options={"": ""}, width=_HALF, **_FIELD)
        self.points = pmui.Select(label="Of", options={"": ""}, width=_WHOLE, **_FIELD)
        low, high = WIDTH_CM
        self.unit = pmui.Select(label="Unit", options=["cm", "inch"], width=_THIRD, **_FIELD)
        self.width, self.height = (
            pmui.FloatInput(label=label, start=low, end=high, step=0.5, width=_THIRD, **_FIELD)
            for label in ("Width", "Height")
        )
        self.font = pmui.Select(
            label="Font", options=list(FONTS[:1]), width=2 * _THIRD + 12, **_FIELD
        )
        self.font_size = pmui.FloatInput(
            label="Size, pt",
            start=FONT_SIZE[0],
            end=FONT_SIZE[1],
            step=0.5,
            value=Paper().font_size,
            width=_THIRD,
            **_FIELD,
        )
        self.in_view = pmui.Checkbox(label="Only the part in view", value=False, margin=(2, 6))
        self.privacy = pmui.Select(
            label="Households", options=_PRIVACY, value="keep", width=_WHOLE, **_FIELD
        )
        self.about_privacy = PlainText(look="quiet", margin=(0, 8), sizing_mode="stretch_width")
        self.scope = pmui.Select(
            label="Compares", options=_SCOPES, value=False, width=_WHOLE, **_FIELD
        )
        self.note = pmui.TextAreaInput(
            label="Your note, for the report",
            rows=3,
            max_length=20_000,
            width=_WHOLE,
            **_FIELD,
        )
        for widget in (self.kind, self.format, self.privacy):
            widget.param.watch(lambda _: self.refresh(), "value")
            widget.param.watch(lambda _: self.job.clear(), "value")
        self.kind.param.watch(lambda _: self._suggest_size(), "value")
        self.unit.param.watch(self._convert, "value")
        self._suggest_size()

    def _layout(self) -> pn.Column:
        self.print_fields = pn.Column(
            pn.Row(self.width, self.height, self.unit, margin=0),
            pn.Row(self.font, self.font_size, margin=0),
            margin=0,
        )
        self.go = pmui.Button(label="Export", icon="download", margin=(10, 6, 4, 6))
        on_click(self.go, self._start)
        return column(
            pn.Row(self.kind, self.format, margin=(10, 0, 0, 0)),
            self.points,
            self.print_fields,
            self.in_view,
            self.scope,
            self.note,
            self.privacy,
            self.about_privacy,
            pn.Row(self.go, self.job.cancel, margin=0),
            self.job.panel,
        )

    # What the fields offer

    def refresh(self) -> None:
        """Show the fields that the kind of file has, for what is on the map now."""
        kind = KINDS[self.kind.value]
        self.format.options = dict(kind.formats)
        if self.format.value not in kind.formats.values():
            self.format.value = next(iter(kind.formats.values()))
        offered = {
            f"{_POINTS[name]} ({len(rows):,})" if len(rows) > 1 else _POINTS[name]: name
            for name in kind.of_points
            if (rows := self._rows(name))
        }
        self.points.param.update(
            options=offered or {"": ""},
            value=self.points.value if self.points.value in offered.values() else "selected",
            visible=len(offered) > 1,
        )
        self.print_fields.visible = self.format.value in ("png", "svg", "pdf")
        zoomed = getattr(self.explorer, "ranges", None) is not None
        self.in_view.visible = self.kind.value == "map" and self.print_fields.visible and zoomed
        self.scope.visible = self.note.visible = self.kind.value == "report"
        self.about_privacy.say(_ABOUT_PRIVACY[self.privacy.value].format(columns=_COLUMNS))

    def _suggest_size(self) -> None:
        width, height = KINDS[self.kind.value].size_cm
        per_unit = 1.0 if self.unit.value == "cm" else CM_PER_INCH
        self.width.value, self.height.value = (
            round(width / per_unit, 1),
            round(height / per_unit, 1),
        )

    def _convert(self, event: param.parameterized.Event) -> None:
        factor = CM_PER_INCH if event.new == "cm" else 1 / CM_PER_INCH
        low, high = (end if event.new == "cm" else end / CM_PER_INCH for end in WIDTH_CM)
        for field in (self.width, self.height):
            field.param.update(start=low, end=high, value=round((field.value or low) * factor, 1))

    def _rows(self, name: str) -> tuple[int, ...]:
        explorer = self.explorer
        if explorer.run is None:
            return ()
        return {
            "selected": () if explorer.selected is None else (explorer.selected,),
            "pinned": tuple(explorer.pins),
            "chosen": tuple(int(row) for row in explorer.chosen),
        }[name]

    # Making the file

    def _start(self) -> None:
        try:
            self.job.start(export_jobs.submit(self.workspace.pool, self.request()))
        except WattfoldError as error:
            self.job.show_error(str(error))

    def request(self) -> ExportRequest:
        """The export that the fields describe, of what is on the map."""
        explorer = self.explorer
        if explorer.run is None:
            raise WattfoldError("there is no map yet; wait until the first is drawn")
        kind = KINDS[self.kind.value]
        return ExportRequest(
            paths=self.workspace.paths,
            view=explorer.view_of_run(),
            kind=self.kind.value,
            suffix=self.format.value,
            directory=str(self.job.new_directory()),
            paper=self._paper() if self.print_fields.visible else Paper(),
            privacy=self.privacy.value,
            rows=self._rows(self.points.value) if kind.of_points else (),
            coloring=explorer.label_coloring() if self.kind.value in ("map", "grid") else None,
            in_view=self.in_view.visible and self.in_view.value,
            compared=self._compared() if self.kind.value == "grid" else (),
            marked=tuple(explorer.listed_rows().tolist()) if explorer.lists_unusual else None,
            remarks=self._remarks() if self.kind.value in ("report", "points") else Remarks(),
            backend=explorer.run.neighbors.backend if self.scope.value else None,
        )

    def _paper(self) -> Paper:
        width, height = self.width.value or 0.0, self.height.value or 0.0
        lettering = {"font": self.font.value, "font_size": self.font_size.value or 0.0}
        if self.unit.value == "inch":
            return Paper.in_inches(width, height, **lettering)
        return Paper(width_cm=width, height_cm=height, **lettering)

    def _remarks(self) -> Remarks:
        explorer = self.explorer
        names = explorer.run.units["label"].astype("str")
        if explorer.run.config.unit == "slots":
            names = explorer.run.units["household"].astype("str") + " " + names
        noted = names[names.isin(list(explorer.notes))]
        return Remarks(
            text=self.note.value or "",
            notes={explorer.label(row): explorer.notes[name] for row, name in noted.items()},
            pins=[explorer.label(row) for row in explorer.pins],
        )

    def _compared(self) -> tuple:
        planned = self.comparison.grid
        if planned is None:
            return ()
        return tuple(
            (method, planned.plan.search_title(search), found.run.config)
            for method, search in planned.places
            if (found := planned.map_of(method, search)) is not None and found.run is not None
        )

    def _offer_fonts(self, found: FollowedJob) -> None:
        self.font.options = found.result or self.font.options
