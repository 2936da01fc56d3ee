"""The server as strangers meet it: headers, signatures, origins, limits, health, logs."""

import asyncio
import json
import re
from contextlib import suppress
from email.message import Message
from importlib.metadata import version
from pathlib import Path

import pytest
from bokeh.util.token import generate_jwt_token, get_session_id, get_token_payload
from page_client import PageClient, connect, fetch, leave, run_alone, token_in
from serving import serving
from tornado.websocket import WebSocketClosedError

from core.demo import make_demo
from dashboard.catalogue import Catalogue
from dashboard.server.session_limit import FULL


@pytest.fixture(scope="module")
def log_file(tmp_path_factory):
    return tmp_path_factory.mktemp("log") / "errors"


@pytest.fixture(scope="module")
def host(demo_path, cache, log_file):
    """Host and port of a server for two."""
    options = ("--max-sessions", "2", "--log-level", "info")
    with serving(demo_path, *options, cache=cache, errors=log_file) as address:
        yield address.removeprefix("http://")


@pytest.fixture(scope="module")
def page(host):
    """The page as a browser gets it behind a proxy: headers and text."""
    said = {"Cookie": "session=secret", "X-Forwarded-User": "somebody"}
    status, headers, text = fetch(host, **said)
    assert status == 200
    return headers, text


@pytest.fixture(scope="module")
def token(page):
    """The token of the page's session, signed by the server."""
    return token_in(page[1])


def first_answer(host: str, token: str, **headers: str) -> str | None:
    """The first message that the server sends on a new connection, None if it closes it."""

    async def ask() -> str | None:
        connection = await connect(host, token, **headers)
        message = await asyncio.wait_for(connection.read_message(), timeout=60)
        await leave(connection)
        return message

    return run_alone(ask())


HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@pytest.mark.parametrize(
    "path", ["/healthz", "/nothing", "/static/js/bokeh.min.js", "/favicon.ico"]
)
def test_every_response_has_the_headers(host, path):
    _, headers, _ = fetch(host, path)
    policy = dict(
        part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";")
    )
    for none in ("frame-ancestors", "object-src", "base-uri"):
        assert policy[none] == "'none'"
    assert policy["default-src"] == policy["form-action"] == "'self'"
    assert "'unsafe-inline'" not in policy["script-src"]
    assert all("http" not in sources and "*" not in sources for sources in policy.values())
    assert {name: headers[name] for name in HEADERS} == HEADERS
    assert "camera=()" in headers["Permissions-Policy"]
    assert "Server" not in headers


def test_the_scripts_of_a_page_have_its_nonce_and_no_page_has_that_of_another(host, page):
    headers, text = page
    nonces = [
        re.search(r"'nonce-([\w-]+)'", each["Content-Security-Policy"])[1]
        for each in (headers, fetch(host, "/nothing")[1], fetch(host, "/nothing")[1])
    ]
    assert len(set(nonces)) == 3
    scripts = re.findall(r"<script[^>]*>", text)
    assert scripts
    assert all(f'nonce="{nonces[0]}"' in script for script in scripts)
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_a_page_gets_a_session_by_its_signed_token(host, token):
    assert "ACK" in (first_answer(host, token) or "")


def test_tokens_that_the_server_did_not_sign_open_nothing(host, token):
    forged = generate_jwt_token(get_session_id(token), signed=False)
    assert first_answer(host, forged) is None
    assert first_answer(host, token[:-4] + "AAAA") is None


UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version": "13",
}


def test_only_pages_of_this_server_may_connect(host, token):
    signed = {**UPGRADE, "Sec-WebSocket-Protocol": f"bokeh, {token}"}
    for origin in ("http://evil.example", "http://localhost.evil.example:5006", "null"):
        assert fetch(host, "/ws", **signed, Origin=origin)[0] == 403


def test_a_form_of_another_page_is_refused(host):
    for path in ("/", "/healthz", "/ws"):
        assert fetch(host, path, "POST")[0] in (403, 405)
    assert fetch(host, "/healthz", "POST")[0] == 403  # for want of an XSRF token


def test_a_message_that_is_too_large_ends_its_connection_and_no_more(host, token):
    async def flood() -> None:
        connection = await connect(host, token)
        await connection.read_message()
        with suppress(WebSocketClosedError):  # it may be closed before all is sent
            await connection.write_message("x" * (21 * 2**20))
        while await asyncio.wait_for(connection.read_message(), timeout=60) is not None:
            pass
        await leave(connection)

    run_alone(flood())
    assert fetch(host, "/healthz")[0] == 200


def test_a_body_that_is_too_large_is_not_read(host):
    assert fetch(host, "/healthz", "POST", **{"Content-Length": str(2**21)})[0] == 400


def test_a_token_tells_the_page_nothing_of_its_request(token):
    """Scripts can read it; a proxy's cookies and headers say who somebody is."""
    payload = get_token_payload(token)
    assert payload["cookies"] == {}
    assert set(payload["headers"]) == {"Host"}


def test_files_outside_the_served_ones_are_not_served(host):
    for path in (
        "/static/../../../../etc/passwd",
        "/static/..%2f..%2f..%2fetc/passwd",
        "//etc/passwd",
    ):
        assert fetch(host, path)[0] in (400, 403, 404)
    assert fetch(host, "/components/dashboard.jobs/WorkerPool/_esm/../../../jobs.py")[0] in (
        403,
        404,
    )


def test_health_and_readiness(host):
    status, _, body = fetch(host, "/healthz")
    assert status == 200
    assert json.loads(body)["version"] == version("wattfold")
    status, _, body = fetch(host, "/readyz")
    assert (status, json.loads(body)) == (200, {"status": "ready", "problems": {}})


def test_beyond_the_limit_the_page_says_so_and_tries_again(host, token):
    async def come_third() -> list[tuple[int, Message, str]]:
        first = await connect(host, token)
        await first.read_message()
        answers = [await asyncio.to_thread(fetch, host) for _ in range(2)]
        signed = {**UPGRADE, "Sec-WebSocket-Protocol": f"bokeh, {unknown}"}
        answers.append(await asyncio.to_thread(fetch, host, "/ws", **signed))
        # Whoever is in stays in, and may open the connection again.
        again = await connect(host, token)
        assert "ACK" in await again.read_message()
        await leave(again)
        await leave(first)
        return answers

    unknown = generate_jwt_token("session-of-another-time", signed=False)
    second, third, socket = run_alone(come_third())
    assert second[0] == 200
    for status, headers, text in (third, socket):
        assert status == 503
        assert int(headers["Retry-After"]) > 0
        assert FULL in text
        assert re.search(r'<meta http-equiv="refresh" content="\d+">', text)
        assert headers["Cache-Control"] == "no-store"
        assert "Content-Security-Policy" in headers
    assert fetch(host, "/healthz")[0] == 200


def test_the_logs_are_objects_that_tell_nobodys_data(host, log_file, demo_path):
    from core.readings import Dataset

    assert fetch(host, "/ws", **UPGRADE, Origin="http://evil.example")[0] == 403
    events = [json.loads(line) for line in log_file.read_text().splitlines()]
    assert {"serving", "session opened"} <= {event["event"] for event in events}
    assert all({"time", "level", "logger"} <= event.keys() for event in events)
    text = log_file.read_text()
    assert "evil.example" in text  # who was refused is told
    assert not any(f'"{name}"' in text for name in Dataset.open(demo_path).households["household"])
    assert "xxxx" not in text


def test_the_page_that_a_person_waits_for_is_listening_on_this_machine_alone(host):
    port = int(host.partition(":")[2])
    listening = [line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    assert f"0100007F:{port:04X}" in listening
    assert f"00000000:{port:04X}" not in listening


@pytest.fixture(scope="module")
def roomy_host(demo_path, cache):
    """Host and port of a server for many, below a prefix."""
    with serving(demo_path, "--prefix", "/demand", cache=cache) as address:
        yield address.removeprefix("http://")


def test_below_a_prefix_visitors_get_pages_of_their_own(roomy_host):
    async def open_all() -> list[str]:
        sessions = []
        for token in tokens:
            connection = await connect(roomy_host, token, path="/demand")
            assert json.loads(await connection.read_message())["msgtype"] == "ACK"
            sessions.append(get_session_id(token))
            await leave(connection)
        return sessions

    pages = [fetch(roomy_host, f"/demand/{query}") for query in ("", "", "?x=1")]
    assert [status for status, _, _ in pages] == [200, 200, 200]
    tokens = [token_in(text) for _, _, text in pages]
    assert len(set(run_alone(open_all()))) == 3


def test_visitors_do_not_choose_their_session(roomy_host, token):
    theirs = get_session_id(token)  # signed, by another server
    forged = generate_jwt_token("mine", signed=False)
    for query in (f"bokeh-session-id={theirs}", "bokeh-session-id=x", f"bokeh-token={forged}"):
        assert fetch(roomy_host, f"/demand/?{query}")[0] == 403
    assert fetch(roomy_host, "/demand/", **{"Bokeh-Session-Id": theirs})[0] == 403


def test_no_page_is_made_to_be_put_in_others(roomy_host):
    path = "/demand/autoload.js?bokeh-autoload-element=x"
    assert fetch(roomy_host, path)[0] == 404


def test_a_page_that_cannot_be_made_says_why(tmp_path):
    for name in ("one", "two"):
        make_demo(tmp_path / "data" / name, households=12, days=21)
    (one, path), (two, _) = Catalogue(tmp_path / "data").paths().items()
    damaged = path / "households.parquet"
    with serving(tmp_path / "data", cache=tmp_path / "cache") as address:
        # It is read when a page is made; its size is as it was.
        damaged.write_bytes(bytes(damaged.stat().st_size))

        async def visit(id: str) -> str:
            async with PageClient(address.removeprefix("http://"), f"/?data={id}") as page:
                return json.dumps(await page.pull())

        assert "run wattfold ingest again" in run_alone(visit(one))
        assert "run wattfold ingest again" not in run_alone(visit(two))
