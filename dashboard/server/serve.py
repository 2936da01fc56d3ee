"""``wattfold serve``: the page, on this machine unless told otherwise."""

import argparse
import ipaddress
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import InputError
from core.progress import Progress

if TYPE_CHECKING:
    from core.readings import Dataset

NAME = "serve"
HELP = "serve the page that explores a dataset"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    from dashboard.server.logs import LEVELS

    parser.add_argument(
        "dataset",
        nargs="?",
        metavar="DIR",
        help="a dataset directory, or a folder of them (default: WATTFOLD_DATA)",
    )
    parser.add_argument("--port", type=int, default=5006, help="the port to listen on (5006)")
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser")
    parser.add_argument(
        "--check", action="store_true", help="check the dataset and the settings, and serve nothing"
    )
    parser.add_argument(
        "--address",
        default="localhost",
        help="the address to listen on (localhost: this machine alone)",
    )
    parser.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="HOST[:PORT]",
        help="a name under which people open the page, such as demand.example.org; may be repeated",
    )
    parser.add_argument(
        "--insecure", action="store_true", help="allow --allow-origin '*', which lets any page in"
    )
    parser.add_argument(
        "--prefix", default="", metavar="PATH", help="the path under which a proxy shows the page"
    )
    parser.add_argument(
        "--behind-proxy",
        action="store_true",
        help="believe the proxy's X-Forwarded headers; only behind one that sets them",
    )
    parser.add_argument(
        "--max-sessions",
        type=int,
        metavar="N",
        help="pages open at once; later visitors are told to wait (WATTFOLD_MAX_SESSIONS, or 30)",
    )
    parser.add_argument("--log-level", choices=LEVELS, default="warning", help="(warning)")
    parser.add_argument(
        "--log-format",
        choices=("text", "json"),
        help="how to log on standard error (text on a terminal, else json)",
    )


def run(arguments: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    """Check dataset and settings, then serve until told to stop."""
    from dashboard.catalogue import Catalogue

    path = arguments.dataset or os.environ.get("WATTFOLD_DATA")
    if not path:
        raise InputError("name the dataset to serve, or set WATTFOLD_DATA; wattfold demo makes one")
    dataset = Catalogue(Path(path)).open()
    os.environ["WATTFOLD_DATA"] = str(Path(path).absolute())
    settings = _settings(arguments)
    _check_free(arguments.address, arguments.port)
    if arguments.check:
        return _check(dataset)
    _serve(arguments, settings)
    return {}


def _settings(arguments: argparse.Namespace) -> Any:
    """The settings of the server, or what is wrong with them."""
    from core.runs import Store
    from dashboard.server.security import check_origins
    from dashboard.server.server import ServerSettings
    from dashboard.server.session_limit import maximum_sessions

    Store.default()  # says what is wrong with WATTFOLD_CACHE_SIZE
    maximum_sessions()  # likewise
    if not 1 <= arguments.port <= 65535:
        raise InputError(f"--port must be from 1 to 65535, got {arguments.port}")
    if arguments.max_sessions is not None:
        if arguments.max_sessions < 1:
            raise InputError(f"--max-sessions must be at least 1, got {arguments.max_sessions}")
        os.environ["WATTFOLD_MAX_SESSIONS"] = str(arguments.max_sessions)
    if os.environ.get("BOKEH_ALLOW_WS_ORIGIN"):
        raise InputError("BOKEH_ALLOW_WS_ORIGIN would overrule --allow-origin; use that, unset it")
    workers = os.environ.get("WATTFOLD_WORKERS") or "1"
    if not workers.isascii() or not workers.isdigit() or int(workers) < 1:
        raise InputError(f"WATTFOLD_WORKERS must be a whole number from 1, got {workers!r}")
    origins = check_origins(arguments.allow_origin, insecure=arguments.insecure)
    if not origins and not _is_local(arguments.address):
        raise InputError(
            f"--address {arguments.address} is open to other machines; say with --allow-origin "
            "under which name people open the page, and see docs/deploy.md"
        )
    return ServerSettings(
        port=arguments.port,
        address=arguments.address,
        origins=tuple(origins),
        prefix=arguments.prefix,
        behind_proxy=arguments.behind_proxy,
    )


def _is_local(address: str) -> bool:
    try:
        return address == "localhost" or ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def _check_free(address: str, port: int) -> None:
    """Say that a port is taken before the server does so at length."""
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            raise InputError(
                f"port {port} cannot be used on {address}: {error.strerror}; choose another with "
                "--port"
            ) from error


def _check(dataset: "Dataset") -> dict[str, Any]:
    """Read the whole dataset against its checksums, and look for room for results."""
    from dashboard.server.health import check_disk

    dataset.verify()
    if problem := check_disk():
        raise InputError(f"{problem}; see WATTFOLD_CACHE")
    return {"dataset": str(dataset.path), "households": len(dataset.households), "status": "ok"}


def _serve(arguments: argparse.Namespace, settings: Any) -> None:
    from dashboard.server import logs
    from dashboard.server.server import make_server, run_until_stopped

    as_json = None if arguments.log_format is None else arguments.log_format == "json"
    logs.set_up(arguments.log_level, as_json=as_json)
    server = make_server(settings)
    print(
        f"Wattfold is at http://{arguments.address}:{arguments.port} (Ctrl+C stops it)", flush=True
    )
    if not arguments.no_browser:
        server.io_loop.add_callback(server.show, "/")
    run_until_stopped(server)


def render(result: dict[str, Any]) -> str:
    """Say that all is in order, if that was asked."""
    if not result:
        return ""
    return f"{result['dataset']}: {result['households']:,} households, ready to be served"
