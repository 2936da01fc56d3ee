"""Clients that open connections and say little: they do not take the server from the others."""

import resource
import socket
import time
from contextlib import ExitStack, suppress

import pytest
from page_client import fetch
from serving import serving

from dashboard.server.connection_limit import highest_descriptor

DESCRIPTORS = 300


@pytest.fixture(scope="module")
def log_file(tmp_path_factory):
    return tmp_path_factory.mktemp("log") / "errors"


@pytest.fixture(scope="module")
def port(demo_path, cache, log_file):
    """The port of a server that may have few descriptors."""
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, 2 * ({DESCRIPTORS},))"
    with serving(demo_path, cache=cache, errors=log_file, first=limit) as address:
        yield int(address.rpartition(":")[2])


def is_closed(connection: socket.socket) -> bool:
    connection.settimeout(10)
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


def answers(port: int) -> bool:
    for _ in range(100):
        with suppress(ConnectionResetError):
            return fetch(f"localhost:{port}", "/healthz")[0] == 200
        time.sleep(0.1)
    return False


def test_more_half_requests_than_descriptors(port, log_file):
    with ExitStack() as stack:
        connections = []
        for _ in range(2 * DESCRIPTORS):
            connection = socket.create_connection(("localhost", port), timeout=10)
            stack.enter_context(connection)
            connections.append(connection)
            try:
                connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
            except OSError:
                break  # turned away
        # Whoever comes when there is no room is told so at once, by a closed connection.
        assert is_closed(connections[-1])
        assert len(connections) > DESCRIPTORS / 2
    # When the server has seen them go, all is as before; nothing was written again and again.
    assert answers(port)
    assert log_file.stat().st_size < 20_000
    assert "Too many open files" not in log_file.read_text()


def test_descriptors_are_kept_free():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024, before[1]))
        assert highest_descriptor() == 768
        resource.setrlimit(resource.RLIMIT_NOFILE, (400, before[1]))
        assert highest_descriptor() == 300
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
