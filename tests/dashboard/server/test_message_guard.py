"""Messages that no page sends: refused before they cost anything, without being quoted."""

import asyncio
import base64
import gzip
import json
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from bokeh.core.serialization import Deserializer
from page_client import PageClient, connect, fetch, leave, models_in, run_alone, token_in
from serving import free_port, start_server, stop, wait_for
from tornado.websocket import WebSocketClosedError

from dashboard.server import message_guard
from dashboard.server.message_guard import (
    MAXIMUM_FRAGMENT_BYTES,
    MAXIMUM_FRAGMENTS,
    MAXIMUM_MESSAGE_BYTES,
    MAXIMUM_VALUES,
    MessageSize,
    RefusedMessageError,
    check_content,
)


def packed(size: int) -> dict[str, str]:
    """Bytes as Bokeh takes them in a text: gzipped, a thousandth of what they unpack to."""
    return {"type": "bytes", "data": base64.b64encode(gzip.compress(bytes(size))).decode()}


def nested(depth: int) -> list:
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


def array(**changes: object) -> dict[str, object]:
    plain = {"type": "ndarray", "array": ["a"], "order": "little", "dtype": "object", "shape": [1]}
    return {**plain, **changes}


HOSTILE = {
    "packed bytes": packed(1000),
    "packed bytes in a map": {"type": "map", "entries": [["a", packed(1000)]]},
    "packed bytes in an array": array(array=packed(1000), dtype="uint8"),
    "wide texts": array(dtype="U500000000"),
    "records": array(dtype="S99999999"),
    "a type that is a list": array(dtype=[["a", "f8"]]),
    "a shape that is no list": array(shape="x"),
    "a shape of many numbers": array(shape=[1] * 1000),
    "typed array": {"type": "typed_array", "array": [1], "order": "little", "dtype": "U9999999"},
    "deep": nested(300),
    "a large integer": 10**30,
    "integers of one hash": {"type": "set", "entries": [sys.hash_info.modulus * 5]},
    "a number in words": {"type": "number", "value": "1" * 1000},
}
HONEST = {
    "a buffer": {"type": "bytes", "data": {"id": "buffer-1"}},
    "an array in a buffer": array(array={"type": "bytes", "data": {"id": "x"}}, dtype="float64"),
    "nan": {"type": "number", "value": "nan"},
    "a map": {"type": "map", "entries": [["type", "bytes"], ["data", "text"]]},
    "models": [{"type": "object", "name": "Range1d", "id": "p1", "attributes": {"start": 1e308}}],
    "plain": [1, -(2**53), 0.5, True, None, "text, [with] {marks}"],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_no_page_sends_is_refused(name):
    with pytest.raises(RefusedMessageError):
        check_content({"events": [{"kind": "ModelChanged", "new": HOSTILE[name]}]})


@pytest.mark.parametrize("name", HONEST)
def test_what_pages_send_is_taken(name):
    check_content({"events": [{"kind": "ModelChanged", "new": HONEST[name]}]})


def test_bokeh_still_needs_a_guard():
    """When Bokeh bounds what it unpacks, this fails, and the check of packed bytes can go."""
    size = 50 * 2**20
    message = packed(size)
    assert len(message["data"]) < size / 500
    assert len(Deserializer().decode(message)) == size


@pytest.mark.parametrize(
    "fragments",
    [
        [b"x" * MAXIMUM_FRAGMENT_BYTES] * (MAXIMUM_MESSAGE_BYTES // MAXIMUM_FRAGMENT_BYTES + 1),
        [b""] * (MAXIMUM_FRAGMENTS + 1),
        ["[" + "0," * MAXIMUM_VALUES],
        ["[" * (MAXIMUM_VALUES + 1)],
    ],
)
def test_a_message_has_bounds_in_all(fragments):
    size = MessageSize()
    with pytest.raises(RefusedMessageError):
        for fragment in fragments:
            size.add(fragment)
    size.start()
    for fragment in ("{}", "{}", "[1, 2]", b"x" * 2**20):
        size.add(fragment)


def peak_megabytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


@pytest.fixture(scope="module")
def log_file(tmp_path_factory):
    return tmp_path_factory.mktemp("log") / "errors"


@pytest.fixture(scope="module")
def server(demo_path, cache, log_file):
    """Host and port of a server, and its process."""
    port = free_port()
    process = start_server(demo_path, port=port, errors=log_file, WATTFOLD_CACHE=str(cache))
    try:
        wait_for(port, process.is_alive)
        yield f"localhost:{port}", process.pid
    finally:
        stop(process)


def test_a_packed_message_costs_no_memory_and_only_its_connection(server):
    host, pid = server
    bomb = packed(300 * 2**20)

    async def attack() -> float:
        async with PageClient(host) as other, PageClient(host) as attacker:
            document = await attacker.pull()
            model = next(model for model, _, found in models_in(document) if "label" in found)
            before = peak_megabytes(pid)
            with pytest.raises(ConnectionError):
                await attacker.patch(model, "label", bomb)
            assert "roots" in await other.pull()
            return peak_megabytes(pid) - before

    assert run_alone(attack()) < 100
    assert fetch(host, "/healthz")[0] == 200


def test_an_answer_does_not_quote_what_was_refused(server, log_file):
    host, _ = server

    async def send() -> dict:
        async with PageClient(host) as page:
            document = await page.pull()
            model = next(model for model, _, found in models_in(document) if "disabled" in found)
            return await page.patch(model, "disabled", "secretive household")

    answer = run_alone(send())
    assert answer["msgtype"] == "ERROR"
    assert "secretive" not in json.dumps(answer)
    assert "secretive" not in log_file.read_text()
    # The kind of the error is logged, and where it was.
    events = [json.loads(line) for line in log_file.read_text().splitlines()]
    (event,) = [event for event in events if "error handling message" in event["event"]]
    assert "ValueError: failed to validate" in event["event"]
    assert "expected a value of type bool" in event["event"]


@pytest.fixture(scope="module")
def token(server):
    """The token of a page; its session takes a new connection after one that was ended."""
    return token_in(fetch(server[0])[2])


@pytest.mark.parametrize(
    "parts",
    [
        ["{"],
        ["[]", "{}", "{}"],
        [b"binary"],
        ['{"msgid": "1", "msgtype": "NONE"}', "{}", "{}"],
        ['{"msgid": "1", "msgtype": "PUSH-DOC"}', "{}", '{"doc": {}}'],
        ['{"msgid": "1", "msgtype": "PATCH-DOC", "num_buffers": "x"}', "{}", "{}", "{}"],
        ['{"msgid": "1", "msgtype": "PATCH-DOC", "num_buffers": -1}', "{}", "{}"],
        ['{"msgid": "1", "msgtype": "PATCH-DOC"}', "{}", "[" * 100_000],
        ['{"msgid": "1", "msgtype": "PATCH-DOC"}', "{}", "1" * 100_000],
        ['{"msgid": "1", "msgtype": "PATCH-DOC"}', "{}", '"\\ud800'],
        ['{"msgid": "1", "msgtype": "PATCH-DOC", "num_buffers": 1}', "{}", "{}", "[]"],
        ["{}", "{}", "x" * (MAXIMUM_FRAGMENT_BYTES + 1)],
    ],
)
def test_a_message_that_cannot_be_read_ends_its_connection_and_no_more(server, token, parts):
    host, _ = server

    async def send() -> None:
        connection = await connect(host, token)
        assert "ACK" in await connection.read_message()
        for _ in range(2):
            await connection.read_message()
        with suppress(WebSocketClosedError):  # it may be closed before all is sent
            for part in [*parts, "{", "{", "{"]:
                await connection.write_message(part, binary=isinstance(part, bytes))
        async with asyncio.timeout(30):
            while await connection.read_message() is not None:
                pass
        await leave(connection)

    run_alone(send())
    assert fetch(host, "/healthz")[0] == 200


def test_all_routes_to_a_websocket_are_guarded():
    from bokeh.server.urls import per_app_patterns
    from bokeh.server.views.ws import WSHandler

    message_guard.guard_messages()
    message_guard.guard_messages()  # changes nothing more
    sockets = [pattern[1] for pattern in per_app_patterns if issubclass(pattern[1], WSHandler)]
    assert sockets == [message_guard.GuardedSocket]
