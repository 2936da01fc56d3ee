"""No more connections than the process has descriptors for.

A process without a free descriptor can accept nobody, open no file, and Tornado tries to accept
again and again. So connections are closed before that: whoever comes then is turned away, and those
who are there go on.
"""

import logging
import resource
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.iostream import IOStream

_log = logging.getLogger(__name__)

# Descriptors for files, pipes of workers and libraries; of a small limit, a quarter.
_KEPT_FREE = 256


def highest_descriptor() -> int:
    """Connections with a descriptor from here on are turned away."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        limit = 2**20
    return int(limit - min(_KEPT_FREE, limit // 4))


class BoundedServer(HTTPServer):
    """Tornado's server, which turns connections away while descriptors are scarce.

    A new connection gets the lowest descriptor that is free: its number tells how many are in use.
    """

    def initialize(self, *arguments: Any, **options: Any) -> None:
        """Set the server up; called by Tornado in place of ``__init__``."""
        self._highest = highest_descriptor()
        super().initialize(*arguments, **options)

    def handle_stream(self, stream: IOStream, address: tuple[Any, ...]) -> None:
        """Serve a connection, or close it."""
        if stream.socket.fileno() >= self._highest:
            stream.close()
            _log.warning("turned a connection away: too many are open")
        else:
            super().handle_stream(stream, address)


def bound_connections() -> None:
    """Have all servers that are made from now on bound their connections."""
    HTTPServer.configure(BoundedServer)
