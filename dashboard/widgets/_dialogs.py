"""Dialogs of one style, which return the keyboard focus when they are closed."""

from collections.abc import Callable

import panel_material_ui as pmui


def make_dialog(title: str, *, closed: Callable[[], None]) -> pmui.Dialog:
    """Make an empty dialog; it closes by its cross, by Escape and by a click beside it.

    Parameters
    ----------
    closed : callable
        Called then; see :meth:`dashboard.widgets.PageKeys.restore_focus`.
    """
    dialog = pmui.Dialog(
        title=title,
        title_variant="h6",
        show_close_button=True,
        close_on_click=True,
        width_option="sm",
    )
    dialog.param.watch(lambda event: None if event.new else closed(), "open")
    return dialog
