"""The command and the Python lines that repeat the run on the map."""

import panel as pn
import panel_material_ui as pmui

from core.runs import command_line, python_lines
from dashboard.components import CopyText, PlainText
from dashboard.state import Explorer

_COMMAND, _PYTHON = "Command line", "Python"
_ABOUT = "Makes the same map from the same data. Run it in the folder that holds the dataset."


class Repeating:
    """Text to copy."""

    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer
        self.language = pmui.RadioButtonGroup(
            options=[_COMMAND, _PYTHON],
            value=_COMMAND,
            size="small",
            margin=(12, 6, 6, 6),
            sx={
                "& button": {"textTransform": "none", "whiteSpace": "nowrap", "padding": "4px 14px"}
            },
        )
        self.text = CopyText(
            label="How to repeat it", lines=8, sizing_mode="stretch_width", margin=(4, 6)
        )
        self.language.param.watch(lambda _: self.tell(), "value")
        self.panel = pn.Column(
            self.language,
            PlainText(_ABOUT, look="quiet", margin=(2, 8), sizing_mode="stretch_width"),
            self.text,
            sizing_mode="stretch_width",
            margin=0,
        )

    def tell(self) -> None:
        """Say how the run on the map is repeated."""
        run = self.explorer.run
        if run is None:
            self.text.text = ""
            return
        # Its name alone: where a server keeps its data is nobody's business.
        name = self.explorer.dataset.path.name
        make = command_line if self.language.value == _COMMAND else python_lines
        self.text.text = make(run.config, name)
