"""The verdict on the selected home, in its story."""

from typing import Any

import panel_material_ui as pmui
import param

from core.errors import WattfoldError
from core.worklist.verdicts import MOST_LETTERS, OPEN, VERDICTS
from dashboard.state import Explorer
from dashboard.widgets import PlainText, column, row

_NONE, _OWN = "not on the list", "own words …"


class VerdictField:
    """Puts the selected home on the worklist, with a verdict, or takes it off."""

    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer
        wide: dict[str, Any] = {"size": "small", "sizing_mode": "stretch_width"}
        self.verdict = pmui.Select(
            label="Worklist (F)", options=_options(""), value=_NONE, margin=(6, 12, 4, 12), **wide
        )
        self.words = pmui.TextInput(
            label="Verdict in own words",
            max_length=MOST_LETTERS,
            visible=False,
            margin=(6, 12, 4, 0),
            **wide,
        )
        self.error = PlainText(
            look="error", visible=False, margin=(0, 12), sizing_mode="stretch_width"
        )
        self.verdict.param.watch(self._take, "value")
        self.words.param.watch(self._take_words, "value")
        explorer.flagged.param.watch(self.show, "worklist")
        self.panel = column(row(self.verdict, self.words), self.error)

    @property
    def _home(self) -> str | None:
        explorer = self.explorer
        if explorer.run is None or explorer.selected is None:
            return None
        return explorer.household_of(explorer.selected)

    def show(self, *_: param.parameterized.Event) -> None:
        """Show the verdict on the selected home."""
        home = self._home
        verdict = "" if home is None else self.explorer.flagged.verdict_of(home)
        self.verdict.param.update(options=_options(verdict), value=verdict or _NONE)
        self.words.visible = False
        self.error.say("")

    def flag(self) -> None:
        """Put the selected home on the list, still to be looked into, unless it is there."""
        home = self._home
        if home is not None and not self.explorer.flagged.verdict_of(home):
            self._flag(home, OPEN)

    def take_off(self) -> None:
        """Take the selected home off the list."""
        home = self._home
        if home is not None and self.explorer.flagged.verdict_of(home):
            self.explorer.flagged.remove(home)

    def keep_note(self) -> None:
        """Add the note on a home that is on the list to what was said of it."""
        home = self._home
        if home is not None and (verdict := self.explorer.flagged.verdict_of(home)):
            self._flag(home, verdict)

    def _take(self, event: param.parameterized.Event) -> None:
        home = self._home
        if home is None or event.new == (self.explorer.flagged.verdict_of(home) or _NONE):
            return
        if event.new == _OWN:
            self.words.param.update(value="", visible=True)
        elif event.new == _NONE:
            self.take_off()
        else:
            self._flag(home, event.new)

    def _take_words(self, event: param.parameterized.Event) -> None:
        home, words = self._home, (event.new or "").strip()
        if home is not None and words:
            self._flag(home, words)

    def _flag(self, home: str, verdict: str) -> None:
        note = self.explorer.note_on(self.explorer.selected)
        try:
            self.explorer.flagged.flag(home, verdict, note=note)
        except WattfoldError as error:
            self.error.say(str(error))


def _options(verdict: str) -> list[str]:
    """What can be chosen, beside the verdict that there is."""
    own = [verdict] if verdict and verdict not in VERDICTS else []
    return [_NONE, *VERDICTS, *own, _OWN]
