"""The script that ``panel serve`` runs for every session; ``wattfold serve`` does without it."""

import panel as pn
from jinja2 import Template

from dashboard.jobs import run_jobs
from dashboard.server.panel_serve import say_what_is_missing
from dashboard.server.session_limit import BUSY_PAGE, is_full
from dashboard.session import create_page

say_what_is_missing()
# From the first time on, so that workers are warm when somebody wants a map.
run_jobs.pool()

if is_full() and pn.state.curdoc:
    # Without the auth module, which says so before there is a session at all.
    pn.state.curdoc.template = Template(BUSY_PAGE)
else:
    create_page().servable()
