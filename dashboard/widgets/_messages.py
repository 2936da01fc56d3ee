"""What is done when the browser sends a message."""

from collections.abc import Callable

import panel as pn


def act(action: Callable[[], None]) -> None:
    """Do what a message asks for, with the lock that changing Bokeh models needs.

    Panel hands messages on without it.
    """
    pn.state.execute(action, schedule=True)
