"""The script that ``panel serve`` and ``wattfold serve`` run for every session."""

import logging

import panel as pn

from dashboard import fits
from dashboard.admission import FULL, maximum_sessions
from dashboard.components import PlainText
from dashboard.shell import create_page

# From the first time on, so that workers are warm when somebody wants a map.
fits.pool()

context = pn.state.curdoc.session_context if pn.state.curdoc else None
# There is no server yet when the page is made to get warm.
others = len(context.server_context.sessions) if context and context.server_context else 0
if others >= maximum_sessions():
    # `wattfold serve` says so before there is a session at all.
    PlainText(f"{FULL} Come back in a moment.", margin=30).servable()
else:
    logging.getLogger(__name__).info("session opened")
    create_page().servable()
