"""The chosen homes as a group: against whom they stand, how they differ, what to do with them."""

from dataclasses import replace
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param

from core.errors import WattfoldError
from core.groups import GroupComparison
from core.groups.grouping import REST
from dashboard.export import FileJob
from dashboard.groups import _sentences
from dashboard.groups._group_plots import GroupDistributionFigure, GroupWeekFigure
from dashboard.jobs import SessionFolder, coalesced, group_jobs
from dashboard.jobs.group_jobs import Sides
from dashboard.jobs.workspace import Workspace
from dashboard.page_schedule import on_click
from dashboard.state import Explorer
from dashboard.state.group_selection import DRAWN, SAVED, GroupSelection
from dashboard.state.map_colors import GROUPS
from dashboard.state.saved_groups import LONGEST_NAME
from dashboard.widgets import Download, JobStatus, PlainText, as_sentence, column, row, wrapped_row

_INVITATION = (
    "Draw a box or a lasso on the map (tools at its right), or choose homes by what is known of "
    "them, to see how they differ from the others."
)
_WIDE: dict[str, Any] = {"sizing_mode": "stretch_width"}
_FIELD: dict[str, Any] = {"size": "small", "margin": (6, 4, 4, 4), **_WIDE}
_SMALL: dict[str, Any] = {"size": "small", "variant": "outlined", "margin": (2, 4)}


class GroupPanel:
    """The group beside the map; its widgets are made when it is first shown.

    Put ``panel`` beside the map and ``download`` on the page.
    """

    def __init__(self, workspace: Workspace, folder: SessionFolder, explorer: Explorer) -> None:
        self.workspace = workspace
        self.explorer = explorer
        self.selection = GroupSelection(explorer)
        self.download = Download()
        self.file_job = FileJob(folder, self.download)
        self.found: GroupComparison | None = None
        self._sides: Sides | None = None
        self._is_filled = False
        self.panel = column()
        # One lasso changes several things: compared once they are all there.
        self._compare_soon = coalesced(workspace.pool.schedule, self._compare)
        explorer.param.watch(self._forget_result, "run", precedence=4)
        followed = ["chosen", "run", "unusual", "labels"]
        explorer.param.watch(self._follow, followed, precedence=5)
        explorer.flagged.param.watch(self._follow, "worklist")
        self.selection.param.watch(self._compare_soon, "against")

    def show(self) -> None:
        """Fill the panel when it is first seen."""
        if not self._is_filled:
            self._fill()
            self._is_filled = True
            self._follow()

    def _fill(self) -> None:
        self.title = PlainText(look="title", margin=(10, 12, 2, 12), **_WIDE)
        self.kind = pmui.Select(label="Choose homes by", options=[DRAWN], value=DRAWN, **_FIELD)
        self.value = pmui.Select(label="Which homes", options=[], visible=False, **_FIELD)
        self.against = pmui.Select(label="Compare with", options=[REST], value=REST, **_FIELD)
        self.name = pmui.TextInput(label="Name", max_length=LONGEST_NAME, **_FIELD)
        self.save = pmui.Button(label="Save", **{**_SMALL, "margin": (8, 4)})
        self.color = pmui.Button(label="Colour by groups", **_SMALL)
        self.only = pmui.Button(label="Map only these", **_SMALL)
        self.export = pmui.Button(label="Export", **_SMALL)
        self.forget = pmui.Button(label="Forget", visible=False, **_SMALL)
        self.clear = pmui.Button(label="Clear", **_SMALL)
        self.cancel = pmui.Button(label="Cancel", visible=False, **_SMALL)
        self.status = JobStatus(side=12, cancel=self.cancel)
        text: dict[str, Any] = {"margin": (2, 12), **_WIDE}
        self.problem = PlainText(look="error", visible=False, **text)
        self.headline = PlainText(look="headline", **text)
        self.about = PlainText(look="quiet", **text)
        self.kwh = PlainText(**text)
        self.hours, self.attributes = PlainText(**text), PlainText(**text)
        self.notices = PlainText(look="quiet", **text)
        self.week, self.distribution = GroupWeekFigure(), GroupDistributionFigure()
        self._connect()
        self.actions = wrapped_row(
            self.color, self.only, self.export, self.clear, self.forget, margin=(0, 8)
        )
        self.result = column(visible=False)
        self.panel.objects = [
            self.title,
            row(self.kind, self.value, margin=(0, 8)),
            row(self.against, self.name, self.save, margin=(0, 8)),
            self.actions,
            self.problem,
            row(self.status.panel, self.cancel),
            row(self.file_job.panel, self.file_job.cancel),
            self.result,
        ]

    def _connect(self) -> None:
        self.kind.param.watch(self._choose_kind, "value")
        self.value.param.watch(self._choose_value, "value")
        self.against.param.watch(self._choose_other, "value")
        on_click(self.save, self.keep)
        on_click(self.color, self._color_by_groups)
        on_click(
            self.only,
            lambda: setattr(self.explorer, "households", list(self.selection.homes)),
        )
        on_click(self.export, self.export_group)
        on_click(self.forget, self._forget)
        on_click(self.clear, self.explorer.clear)
        on_click(self.cancel, lambda: self._stop("Not compared."))

    def _result_parts(self) -> list[Any]:
        return [
            self.headline,
            self.about,
            _heading("Mean week; the hours that differ most are marked"),
            pn.pane.Bokeh(self.week.figure, margin=0, **_WIDE),
            self.kwh,
            _heading("Hours that differ most"),
            self.hours,
            _heading("Distribution of demand"),
            pn.pane.Bokeh(self.distribution.figure, margin=0, **_WIDE),
            _heading("What is known of these homes"),
            self.attributes,
            self.notices,
            pn.Spacer(height=12),
        ]

    # Choosing

    def _choose_kind(self, event: param.parameterized.Event) -> None:
        self._offer_values(event.new)

    def _offer_values(self, kind: str) -> None:
        self.problem.say("")
        try:
            values = self.selection.values(kind)
        except WattfoldError as error:
            values = {}
            self.problem.say(str(error))
        options: dict[str, Any] = {"choose …": None}
        options |= {f"{name} ({len(rows):,})": name for name, rows in values.items()}
        origin = self.selection.origin
        chosen = origin.value if origin is not None and origin.kind == kind else None
        known = chosen if chosen in values else None
        self.value.param.update(options=options, value=known, visible=bool(values))

    def _choose_value(self, event: param.parameterized.Event) -> None:
        origin = self.selection.origin
        if event.new is not None and (origin is None or origin.value != event.new):
            self.selection.choose(self.kind.value, event.new)

    def _choose_other(self, event: param.parameterized.Event) -> None:
        self.selection.against = "" if event.new in (None, REST) else event.new

    # Following the map

    def _follow(self, *_: param.parameterized.Event) -> None:
        """Show the homes that are chosen now, and compare them."""
        if not self._is_filled or self.explorer.run is None:
            return
        group, kinds = self.selection, self.selection.kinds()
        origin, some = group.origin, len(self.explorer.chosen)
        self.title.text = _title(group.title, some, self.explorer.run.n)
        kind = DRAWN if origin is None and self.value.value is not None else self.kind.value
        kind = kind if origin is None else origin.kind
        self.kind.param.update(options=kinds, value=kind if kind in kinds else DRAWN)
        self._offer_values(self.kind.value)
        others = group.others()
        against = group.against if group.against in others else REST
        self.against.param.update(options=[REST, *others], value=against)
        self.name.value = "" if origin is None else origin.name
        self.forget.visible = origin is not None and origin.kind == SAVED
        self.color.visible = bool(self.explorer.groups.groups)
        self.clear.visible = self.only.visible = some > 0
        self._compare_soon()

    # Comparing

    def _forget_result(self, *_: param.parameterized.Event) -> None:
        """The same homes of another map, such as of another period, differ otherwise."""
        self.found = self._sides = None

    def _compare(self) -> None:
        if not self._is_filled or self.explorer.run is None:
            return
        self._stop("")
        self.result.visible = self.export.visible = False
        if not len(self.explorer.chosen):
            self.status.say("" if self.problem.visible else _INVITATION)
            return
        try:
            first, second, names = self.selection.sides()
            attribute = self.selection.attribute
            sides = Sides(first=first, second=second, names=names, attribute=attribute)
            if self.found is not None and self._sides == replace(sides, names=self.found.names):
                self._show(replace(self.found, names=names), sides)  # another name alone
                return
            job = group_jobs.submit_comparison(self.workspace, self.explorer.run.config, sides)
        except WattfoldError as error:
            self.problem.say(str(error))
            return

        self.status.follow(job)
        self.status.wait_for(
            job,
            done=lambda job: self._show(job.result, sides),
            failed=lambda error: self.problem.say(as_sentence(error)),
        )

    def _show(self, found: GroupComparison, sides: Sides) -> None:
        self.found, self._sides = found, sides
        self.headline.text = _sentences.headline(found)
        self.about.text = _sentences.explanation(found)
        self.kwh.text = _sentences.kwh_text(found.kwh_per_day)
        self.hours.text = _sentences.hours_text(found)
        self.attributes.text = _sentences.attributes_text(found)
        self.notices.say("\n".join(found.notices))
        self.week.show(found)
        self.distribution.show(found)
        if not self.result.objects:
            self.result.objects = self._result_parts()
        self.result.visible = self.export.visible = True

    def _stop(self, why: str) -> None:
        self.status.stop()
        self.status.say(why)

    # What to do with a group

    def keep(self) -> None:
        """Save the chosen homes under the name that is written."""
        try:
            name = (self.name.value or "").strip()
            self.explorer.groups.save(name, self.selection.homes)
            self.selection.choose(SAVED, name)
        except WattfoldError as error:
            self.problem.say(str(error))

    def _forget(self) -> None:
        origin = self.selection.origin
        if origin is not None:
            self.explorer.groups.remove(origin.value)

    def _color_by_groups(self) -> None:
        self.explorer.color_by = GROUPS

    def export_group(self) -> None:
        """Have the comparison written to a file."""
        if self.found is None or self._sides is None:
            return
        try:
            directory = str(self.file_job.new_directory())
            job = group_jobs.submit_export(self.workspace, self.found, self._sides, directory)
            self.file_job.start(job)
        except WattfoldError as error:
            self.file_job.show_error(str(error))


def _title(name: str, some: int, n: int) -> str:
    return f"{name[:1].upper()}{name[1:]}: {some:,} of {n:,}" if some else "No homes are chosen"


def _heading(text: str) -> PlainText:
    return PlainText(text, look="heading", margin=(8, 12, 0, 12), **_WIDE)
