"""What files are taken for: first rows, fields that can be changed, questions, the account."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import param
from panel.custom import JSComponent

from dashboard.page_schedule import act


class ImportForm(JSComponent):
    """Shows a review of files in one part.

    Parameters
    ----------
    changed : callable
        Called with what the analyst did: a dictionary with ``set`` (a field and its value),
        ``answer`` (the number of a question and of its choice), ``leave_out`` (a column) or
        ``forget`` (an answer). It comes from the browser and may hold anything.
    """

    review = param.Dict(default={}, doc="See `dashboard.data._import_review.review`")
    zones = param.List(default=[], doc="Time zones to suggest")
    busy = param.Boolean(default=False, doc="Whether it is about to be replaced")

    _esm = Path(__file__).with_name("import_form.js")

    def __init__(self, changed: Callable[[Mapping[str, Any]], None], **parameters: Any) -> None:
        super().__init__(**parameters)
        self._changed = changed

    def _handle_msg(self, message: Any) -> None:
        if isinstance(message, Mapping):
            act(lambda: self._changed(message))
