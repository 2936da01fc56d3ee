"""A form for the settings of a backend or method."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import param
from panel.custom import JSComponent

from core.errors import InputError
from core.registry import Parameter, Value


class SettingsForm(JSComponent):
    """The fields of whatever is chosen, in one part.

    A widget for each would have to be made when something else is chosen, which takes a tenth of a
    second of everybody's time.

    Parameters
    ----------
    changed : callable
        Called with the settings that were changed on the page, all within their bounds. It answers
        with :meth:`ask_for`; the form goes back to what was asked last.
    """

    fields = param.List(default=[], doc="A dict each, see `_field`")
    values = param.Dict(default={}, doc="By the names of the fields; the page changes them, too")

    _esm = Path(__file__).with_name("settings.js")

    def __init__(self, changed: Callable[[dict[str, Value]], None], **parameters: Any) -> None:
        super().__init__(**parameters)
        self._changed = changed
        self._settings: dict[str, Parameter] = {}
        self._asked: dict[str, Value] = {}
        self.param.watch(self._take_in, "values")

    def ask_for(self, settings: Sequence[Parameter], values: Mapping[str, Value]) -> None:
        """Ask for these settings; those without a value have their default."""
        self._settings = {setting.name: setting for setting in settings}
        self._asked = {each.name: values.get(each.name, each.default) for each in settings}
        self.param.update(
            fields=[_field(setting) for setting in settings],
            values=dict(self._asked),
            visible=bool(settings),
        )

    def _take_in(self, event: param.parameterized.Event) -> None:
        """Report the values that were changed on the page and are within their bounds."""
        changes = {}
        for name, setting in self._settings.items():
            try:
                value = setting.validate(event.new.get(name))
            except InputError:  # no field lets that through: it is not from our page
                continue
            if value != self._asked[name]:
                changes[name] = value
        if changes:
            self._changed(changes)
        self.values = dict(self._asked)


def _field(setting: Parameter) -> dict[str, Any]:
    unit = f", {setting.unit}" if setting.unit else ""
    return {
        "name": setting.name,
        "label": setting.name.replace("_", " ").capitalize() + unit,
        "help": setting.help,
        "kind": setting.kind.__name__,
        "choices": list(setting.choices),
        "low": setting.low,
        "high": setting.high,
    }
