"""What ``panel serve`` can be told, so that it has most limits of ``wattfold serve``.

As its ``--auth-module`` this module keeps the limit of sessions and adds headers to pages; as one
of its ``--plugins``, which are imported before the server is made, it bounds messages and
connections and adds ``/healthz`` and ``/readyz``.
"""

import sys
from functools import cache

from tornado.web import RequestHandler

from dashboard.server.connection_limit import bound_connections
from dashboard.server.health import ROUTES
from dashboard.server.message_guard import guard_messages
from dashboard.server.security import add_headers
from dashboard.server.session_limit import LOGIN_URL, admit

__all__ = ["ROUTES", "get_user_async", "login_url", "say_what_is_missing"]

MISSING = """\
Wattfold under panel serve: without --address everybody on the network can reach it, responses have
no security headers, scripts are not restricted by a nonce, a link can name the session that its
visitors share, one message of a page may take all memory, logs may quote what pages send, and jobs
are not ended in order when it stops. This command has none of these faults:

    wattfold serve DIR

For development, panel serve on this machine alone, with bounds on sessions, messages and
connections, headers and health routes:

    export BOKEH_SECRET_KEY=$(bokeh secret)
    panel serve dashboard/app.py --address localhost --warm --session-ids signed \\
        --enable-xsrf-cookies --auth-module dashboard/server/panel_serve.py \\
        --plugins dashboard.server.panel_serve
"""

guard_messages()
bound_connections()

# The names under which Bokeh looks for them in an auth module.
login_url = LOGIN_URL


async def get_user_async(handler: RequestHandler) -> str:
    """Add headers to what is answered, and let a visitor in if there is room."""
    add_headers(handler)
    return await admit(handler)


@cache
def say_what_is_missing() -> None:
    """Print, once, what Panel's own server lacks and which command has it."""
    print(MISSING, file=sys.stderr)
