"""The command and the Python lines that reproduce the run on the map."""

import panel_material_ui as pmui

from core.runs import command_line, python_lines
from dashboard.state import Explorer
from dashboard.widgets import CopyText, PlainText, column

_COMMAND, _PYTHON = "Command line", "Python"
_ABOUT = "Computes the same map from the same data. Run it in the folder that holds the dataset."


class ReproducePanel:
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
            label="How to reproduce it", lines=8, sizing_mode="stretch_width", margin=(4, 6)
        )
        self.language.param.watch(lambda _: self.refresh(), "value")
        self.panel = column(
            self.language,
            PlainText(_ABOUT, look="quiet", margin=(2, 8), sizing_mode="stretch_width"),
            self.text,
        )

    def refresh(self) -> None:
        """Show how to reproduce the run that is on the map now."""
        run = self.explorer.run
        if run is None:
            self.text.text = ""
            return
        # Its name alone: the page does not tell where the server keeps its data.
        name = self.explorer.dataset.path.name
        make = command_line if self.language.value == _COMMAND else python_lines
        self.text.text = make(run.config, name)
