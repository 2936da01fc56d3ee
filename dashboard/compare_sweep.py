"""More maps for the plot of time against quality: one method, several settings of a search."""

import panel as pn
import panel_material_ui as pmui
import param

from core.embedding import METHODS
from core.errors import InputError, WattfoldError
from core.neighbors import BACKENDS
from core.registry import Parameter, Value
from dashboard.compare_board import Board
from dashboard.components import PlainText

# Where a sweep begins; any number that the parameter allows can be typed.
SWEEPS: dict[tuple[str, str], tuple[str, str]] = {
    ("kdtree", "epsilon"): ("ε of the k-d tree", "0, 0.5, 1, 2, 5"),
    ("annoy", "n_trees"): ("Trees of Annoy", "5, 10, 20, 50, 100"),
    ("annoy", "search_k"): ("search_k of Annoy", "20, 50, 200, 1000"),
}
_MOST_VALUES = 12


class SweepForm:
    """Asks for maps of one method for several values of a parameter of the search."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.parameter = pmui.Select(
            label="Sweep",
            options={title: key for key, (title, _) in SWEEPS.items()},
            value=("kdtree", "epsilon"),
            size="small",
            width=190,
            margin=(6, 8, 2, 0),
        )
        self.values = pmui.TextInput(
            label="Values",
            value=SWEEPS["kdtree", "epsilon"][1],
            size="small",
            width=240,
            margin=(6, 8, 2, 0),
        )
        self.method = pmui.Select(
            label="Method",
            options={entry.title: name for name, entry in METHODS.items()},
            value="isomap",
            size="small",
            width=190,
            margin=(6, 8, 2, 0),
        )
        self.add = pmui.Button(label="Add", variant="outlined", size="small", margin=(9, 0, 2, 0))
        self.error = PlainText(look="error", visible=False, margin=0, sizing_mode="stretch_width")
        self.parameter.param.watch(self._suggest, "value")
        self.add.on_click(lambda _: self._sweep())
        self.panel = pn.Column(
            pn.Row(self.parameter, self.method, margin=0),
            pn.Row(self.values, self.add, margin=0),
            self.error,
            sizing_mode="stretch_width",
            margin=0,
        )

    def _suggest(self, *_: param.parameterized.Event) -> None:
        self.values.value = SWEEPS[self.parameter.value][1]

    def _sweep(self) -> None:
        backend, name = self.parameter.value
        try:
            parameter = next(each for each in BACKENDS[backend].parameters if each.name == name)
            self.board.sweep(
                self.method.value, backend, name, read_values(self.values.value, parameter)
            )
        except WattfoldError as error:
            self.error.param.update(text=str(error), visible=True)
        else:
            self.error.param.update(text="", visible=False)


def read_values(text: str, parameter: Parameter) -> list[Value]:
    """Read numbers that a parameter can take, each once, in their order."""
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
