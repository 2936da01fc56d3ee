"""``wattfold serve``: what it refuses before it serves, and how it stops."""

import asyncio
import base64
import gzip
import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from email.message import Message
from pathlib import Path

import pytest
from page_client import PageClient, fetch, run_alone
from serving import COLD, wait_for

from core.cli import main
from core.version import build, commit_of, describe
from dashboard.jobs.run_jobs import SUBMISSIONS
from dashboard.server import panel_serve, serve
from dashboard.server.session_limit import FULL

ROOT = Path(__file__).parents[3]


@pytest.fixture
def wattfold(capsys, monkeypatch, tmp_path):
    """Run the command; return status, standard output and standard error."""
    monkeypatch.setenv("WATTFOLD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("WATTFOLD_DATA", "")
    monkeypatch.setenv("WATTFOLD_MAX_SESSIONS", "")

    def run(*arguments: str):
        status = main(["serve", *map(str, arguments)], commands=[serve])
        output = capsys.readouterr()
        return status, output.out, output.err

    return run


def test_check_reads_the_dataset_and_says_so(wattfold, demo_path):
    status, out, _ = wattfold(demo_path, "--check", "--json", "--port", "5359")
    assert status == 0
    assert json.loads(out) == {"dataset": str(demo_path), "households": 60, "status": "ok"}
    assert "ready to be served" in wattfold(demo_path, "--check", "--port", "5359")[1]


def test_check_finds_a_changed_byte(wattfold, tmp_path):
    from core.demo import make_demo

    path = make_demo(tmp_path / "demo", households=3, days=14).path
    content = bytearray((path / "readings.parquet").read_bytes())
    content[len(content) // 2] ^= 1
    (path / "readings.parquet").write_bytes(content)
    status, _, err = wattfold(path, "--check", "--port", "5359")
    assert status == 2
    assert "does not match its checksum" in err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--allow-origin", "*"], "lets any web page read this server"),
        (["--allow-origin", "*.example.org"], "must be a host and port"),
        (["--allow-origin", "a b"], "must be a host and port"),
        (["--address", "0.0.0.0"], "is open to other machines"),  # noqa: S104 (refused)
        (["--port", "99999"], "--port must be from 1 to 65535"),
        (["--max-sessions", "0"], "--max-sessions must be at least 1"),
    ],
)
def test_unsafe_settings_are_refused(wattfold, demo_path, options, words):
    status, _, err = wattfold(demo_path, "--check", "--port", "5359", *options)
    assert status == 2
    assert words in err


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("WATTFOLD_WORKERS", "many"),
        ("WATTFOLD_MAX_SESSIONS", "-1"),
        ("WATTFOLD_CACHE_SIZE", "much"),
        ("BOKEH_ALLOW_WS_ORIGIN", "*"),
    ],
)
def test_unusable_variables_are_refused(wattfold, demo_path, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    status, _, err = wattfold(demo_path, "--check", "--port", "5359")
    assert status == 2
    assert name.replace("WATTFOLD_CACHE_SIZE", "much") in err


def test_any_origin_is_allowed_to_those_who_insist(wattfold, demo_path):
    options = ("--check", "--port", "5359", "--allow-origin", "*", "--insecure")
    assert wattfold(demo_path, *options)[0] == 0
    options = ("--check", "--port", "5359", "--allow-origin", "https://demand.example.org/")
    assert wattfold(demo_path, *options)[0] == 0


def test_version_and_build(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"wattfold {describe()}\n"
    assert re.fullmatch(r"[0-9a-f]{10}|", build())


def test_the_commit_of_a_checkout(tmp_path):
    assert commit_of(tmp_path) == ""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("0123456789abcdef\n")
    assert commit_of(tmp_path) == "0123456789"
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / ".git" / "packed-refs").write_text("# pack\nfedcba9876543210 refs/heads/main\n")
    assert commit_of(tmp_path) == "fedcba9876"


def is_worker(pid: str) -> bool:
    """Whether a process that was spawned is alive; one that has ended has no command line."""
    command = Path(f"/proc/{pid}/cmdline")
    return command.exists() and b"spawn_main" in command.read_bytes()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_server_ends_its_jobs_and_itself(number, demo_path, tmp_path):
    """Workers are at their first imports then, the longest that they cannot be talked to."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-c", "from dashboard.cli import main; main()"]
    options = ["--port", str(port), "--no-browser", "--log-level", "info"]
    program = subprocess.Popen(
        [*command, "serve", str(demo_path), *options],
        cwd=ROOT,
        env={**os.environ, "WATTFOLD_CACHE": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
    )
    lines = [program.stderr.readline()]
    while '"serving"' not in lines[-1]:
        lines.append(program.stderr.readline())
    threads = Path(f"/proc/{program.pid}/task").glob("*/children")
    children = [pid for thread in threads for pid in thread.read_text().split()]
    workers = [pid for pid in children if is_worker(pid)]
    assert workers
    program.send_signal(number)
    # It is promised within ten seconds; a busy machine has its time.
    _, rest = program.communicate(timeout=60)
    assert program.returncode == 0
    assert '"stopped"' in rest
    assert "Traceback" not in rest
    assert not any(map(is_worker, workers))


@contextmanager
def panel_serving(demo_path, cache, errors, *options):
    """``panel serve`` for one visitor; yields its host and port."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = probe.getsockname()[1]
    program = f"{COLD}; from panel.command import main; main()"
    here = ["--port", str(port), "--address", "localhost"]
    with (
        errors.open("wb") as log,
        subprocess.Popen(
            [sys.executable, "-c", program, "serve", "dashboard/app.py", *here, *options],
            cwd=ROOT,
            env={
                **os.environ,
                "WATTFOLD_DATA": str(demo_path),
                "WATTFOLD_CACHE": str(cache),
                "WATTFOLD_MAX_SESSIONS": "1",
                "BOKEH_SECRET_KEY": "secret",
            },
            stderr=log,
        ) as panel,
    ):
        try:
            wait_for(port, lambda: panel.poll() is None)
            yield f"localhost:{port}"
        finally:
            panel.terminate()
            panel.wait(timeout=60)


async def visit_then_fetch(
    host: str, *, bounded: bool = False
) -> tuple[str, tuple[int, Message, str]]:
    """The document of a visitor, and the page of one who comes while the first is there.

    Where messages are bounded, one that Bokeh would unpack without a bound ends the visit.
    """
    packed = {"type": "bytes", "data": base64.b64encode(gzip.compress(bytes(1000))).decode()}
    async with PageClient(host, "/app") as first:
        document = await first.pull()
        page = await asyncio.to_thread(fetch, host, "/app")
        if bounded:
            with pytest.raises(ConnectionError):
                await first.patch("any", "value", packed)
        return json.dumps(document), page


def test_panel_serve_has_the_page_and_its_limit_and_says_what_it_lacks(demo_path, tmp_path):
    errors = tmp_path / "errors"
    with panel_serving(demo_path, tmp_path, errors) as host:
        document, (_, _, busy) = run_alone(visit_then_fetch(host))
    assert "Wattfold" in document
    assert FULL in busy
    assert 'http-equiv="refresh"' in busy
    said = errors.read_text()
    assert said.count("wattfold serve DIR") == 1
    assert "not restricted by a nonce" in said
    assert "everybody on the network can reach it" in said


def test_panel_serve_with_our_module_refuses_before_it_makes_a_session(demo_path, tmp_path):
    command = re.sub(r"\\\n", "", panel_serve.MISSING)
    options = re.search(r"panel serve dashboard/app.py --address localhost (.*)", command)[1]
    with panel_serving(demo_path, tmp_path, tmp_path / "errors", *options.split()) as host:
        assert fetch(host, "/readyz")[0] == 200
        assert fetch(host, "/app?bokeh-session-id=victim")[0] == 403
        document, (status, headers, busy) = run_alone(visit_then_fetch(host, bounded=True))
    assert "Wattfold" in document
    assert status == 503
    assert int(headers["Retry-After"]) > 0
    assert FULL in busy
    assert headers["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]


def test_submissions_allow_a_comparison_of_everything():
    from core.embedding import METHODS
    from core.neighbors import BACKENDS

    assert SUBMISSIONS.burst >= 2 * len(METHODS) * len(BACKENDS)
