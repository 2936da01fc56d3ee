"""What outlives a page: the view in its address; notes, pins and lists in the browser."""

from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs

import panel as pn
import param

from core.errors import WattfoldError
from dashboard.explore import map_summary
from dashboard.jobs import coalesced
from dashboard.jobs.workspace import Workspace
from dashboard.state import Explorer, ViewState
from dashboard.state.saved_groups import check_groups
from dashboard.state.session_file import check_notes
from dashboard.state.view_state import MAXIMUM_PINS, REMEMBERED
from dashboard.widgets import BrowserStore, PageAddress


class Keeps:
    """Writes the address while the view changes, follows it back and forward, and keeps notes.

    Parameters
    ----------
    workspace : Workspace
    explorer : Explorer
    name : str
        Of the data, for the title of the window.
    link : str, optional
        What the query has before the view; None for data without a link.
    """

    def __init__(
        self, workspace: Workspace, explorer: Explorer, *, name: str, link: str | None
    ) -> None:
        self.explorer = explorer
        self._name = name
        self._link = link
        self._first: ViewState | None = None
        self._pins: list[str] = []
        schedule = workspace.pool.schedule
        self.address = PageAddress(self._go_to, schedule, title=f"{name} · Wattfold")
        key = f"notes:{workspace.dataset.digest[:16]}"
        self.store = BrowserStore(self._take_in, schedule, key=key)
        self.parts: list[pn.viewable.Viewable] = [self.address, self.store]
        explorer.param.watch(coalesced(schedule, self._write), list(REMEMBERED))
        explorer.param.watch(self._open_on_unusual, "unusual")
        explorer.param.watch(self._keep, ["notes", "pins"])
        explorer.flagged.param.watch(self._keep, ["worklist", "by", "price"])
        explorer.groups.param.watch(self._keep, "groups")
        explorer.param.watch(self._pin_again, "run", precedence=7)

    # The address

    def _write(self) -> None:
        view = self.explorer.view_state()
        if view is None:
            return
        self.address.title = f"{self._name} · {map_summary(view.config)} · Wattfold"
        if self._first is None:
            self._first = view  # that of the address as it was opened
        elif self._link is not None and view != self._first:
            try:
                token = view.to_token(self.explorer.dataset)
            except WattfoldError:  # more is chosen than an address holds
                return
            self.address.query = f"?{self._link}view={token}"

    def _open_on_unusual(self, *_: param.parameterized.Event) -> None:
        """Take the page for opened only when what is unusual is there, and selected."""
        if not self.address.query:
            self._first = None

    def _go_to(self, query: Any) -> None:
        """Show what an address of this window's history stands for."""
        if not isinstance(query, str):
            return
        token = parse_qs(query.removeprefix("?")).get("view", [""])[0]
        try:
            view = ViewState.from_token(token, self.explorer.dataset) if token else self._first
            if view is not None:
                self.explorer.restore(view)
        except WattfoldError as error:
            self.explorer.restore_problem = str(error)
            return
        self.address.query = query

    # Notes, pins, the worklist and saved groups

    def _keep(self, *_: param.parameterized.Event) -> None:
        explorer = self.explorer
        pins = self._pins  # still to be pinned
        if explorer.run is not None and not pins:
            pins = [explorer.full_name(row) for row in explorer.pins]
        self.store.content = {
            "notes": dict(explorer.notes),
            "pins": pins,
            "flagged": explorer.flagged.to_json(),
            "groups": {name: list(own) for name, own in explorer.groups.groups.items()},
        }

    def _take_in(self, told: Any) -> None:
        """Take what the browser kept, or what another page changed in it since ``old``.

        It is from outside, so all of it is checked.
        """
        if not isinstance(told, dict) or not isinstance(new := told.get("new"), dict):
            return
        explorer, old = self.explorer, told.get("old")
        if not isinstance(old, dict):  # what was kept before this page was opened
            old = {}
            pins = new.get("pins")
            self._pins = (
                [str(each) for each in pins[:MAXIMUM_PINS]] if isinstance(pins, list) else []
            )
        with suppress(WattfoldError):
            was, now = (check_notes(each.get("notes", {})) for each in (old, new))
            changed = {
                name: now.get(name)
                for name in {*was, *now}
                if was.get(name) != now.get(name) and explorer.notes.get(name) == was.get(name)
            }
            notes = {**explorer.notes, **changed}
            explorer.notes = {name: text for name, text in notes.items() if text is not None}
        explorer.flagged.take_in(new.get("flagged"), old.get("flagged"))
        with suppress(WattfoldError):
            before, groups = (
                check_groups(each.get("groups", {}), explorer.dataset) for each in (old, new)
            )
            explorer.groups.merge(groups, before=before)
        self._pin_again()

    def _pin_again(self, *_: param.parameterized.Event) -> None:
        """Pin the points that were pinned, if this map has them and no others are pinned."""
        explorer = self.explorer
        if explorer.run is None or not self._pins:
            return
        names, self._pins = self._pins, []
        if not explorer.pins and explorer.run.config.unit != "slots":
            explorer.pins = explorer.rows_of(names)
            self._first = None  # the page as it opens has them
