"""A form that adds maps of one method for several settings of a neighbour search."""

from typing import Any

import panel as pn
import panel_material_ui as pmui
import param

from core.embedding import METHODS
from core.errors import InputError, WattfoldError
from core.neighbors import BACKENDS
from core.registry import Parameter, Value
from dashboard.compare.comparison import Comparison
from dashboard.page_schedule import on_click
from dashboard.widgets import PlainText, column

# Suggested values; any number that the parameter allows can be typed.
SWEEPS: dict[tuple[str, str], tuple[str, str]] = {
    ("kdtree", "epsilon"): ("ε of the k-d tree", "0, 0.5, 1, 2, 5"),
    ("annoy", "n_trees"): ("Trees of Annoy", "5, 10, 20, 50, 100"),
    ("annoy", "search_k"): ("search_k of Annoy", "20, 50, 200, 1000"),
}
_MOST_VALUES = 12


class SweepForm:
    """Adds maps of one method for several values of a parameter of the search."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        field: dict[str, Any] = {"size": "small", "margin": (6, 8, 2, 0)}
        self.parameter = pmui.Select(
            label="Sweep",
            options={title: key for key, (title, _) in SWEEPS.items()},
            value=("kdtree", "epsilon"),
            width=190,
            **field,
        )
        self.values = pmui.TextInput(
            label="Values", value=SWEEPS["kdtree", "epsilon"][1], width=240, **field
        )
        self.method = pmui.Select(
            label="Method",
            options={entry.title: name for name, entry in METHODS.items()},
            value="isomap",
            width=190,
            **field,
        )
        self.add = pmui.Button(label="Add", variant="outlined", size="small", margin=(9, 0, 2, 0))
        self.error = PlainText(look="error", visible=False, margin=0, sizing_mode="stretch_width")
        self.parameter.param.watch(self._suggest, "value")
        on_click(self.add, self._sweep)
        self.panel = column(
            pn.Row(self.parameter, self.method, margin=0),
            pn.Row(self.values, self.add, margin=0),
            self.error,
        )

    def _suggest(self, *_: param.parameterized.Event) -> None:
        self.values.value = SWEEPS[self.parameter.value][1]

    def _sweep(self) -> None:
        backend, name = self.parameter.value
        try:
            parameter = next(each for each in BACKENDS[backend].parameters if each.name == name)
            self.comparison.sweep(
                self.method.value, backend, name, read_values(self.values.value, parameter)
            )
        except WattfoldError as error:
            self.error.say(str(error))
        else:
            self.error.say("")


def read_values(text: str, parameter: Parameter) -> list[Value]:
    """Read numbers that a parameter can take, sorted, each once."""
    words = [word for word in text.replace(";", ",").replace(",", " ").split() if word]
    values: list[Value] = []
    for word in words:
        try:
            number = float(word)
        except ValueError:
            raise InputError(f"{parameter.name} must be {parameter.bounds}, got {word!r}") from None
        values.append(parameter.validate(number))
    values = sorted(dict.fromkeys(values))
    if not 1 <= len(values) <= _MOST_VALUES:
        raise InputError(
            f"give 1 to {_MOST_VALUES} values, with commas between them; got {len(values)}"
        )
    return values
