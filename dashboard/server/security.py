"""What a browser is told about the page's limits, and who may talk to the server.

Bokeh builds the page with inline scripts. Those that the server itself wrote into a response carry
that response's nonce; no other inline script and no ``onerror=`` of somebody's text ever runs,
wherever it gets into the page.
"""

import re
import secrets
from collections.abc import Iterable

from tornado.httputil import HTTPHeaders
from tornado.web import OutputTransform, RequestHandler

from core.errors import InputError

_POLICY = {
    "default-src": "'self'",
    # Panel loads its components from blobs; BokehJS compiles what it draws plots with.
    "script-src": "'self' blob: 'unsafe-eval'",
    # The widgets set styles on elements one by one, which no hash can name.
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "connect-src": "'self' blob:",
    "worker-src": "'self' blob:",
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
}
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",  # for browsers that do not know frame-ancestors
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
_SCRIPT = re.compile(rb"<script(?=[\s>])")
_HOST = re.compile(r"(?:[\w.-]+|\[[0-9a-fA-F:]+\])(?::\d{1,5})?")


class SecurityHeaders(OutputTransform):
    """Puts the headers on every response of the server: pages, files, redirects, errors."""

    def transform_first_chunk(
        self, status_code: int, headers: HTTPHeaders, chunk: bytes, finishing: bool
    ) -> tuple[int, HTTPHeaders, bytes]:
        """Add the headers; mark the scripts of a page as the server's own."""
        nonce = ""
        if headers.get("Content-Type", "").startswith("text/html") and finishing:
            nonce = secrets.token_urlsafe(16)
            chunk = _SCRIPT.sub(f'<script nonce="{nonce}"'.encode(), chunk)
            headers["Content-Length"] = str(len(chunk))
        headers["Content-Security-Policy"] = content_security_policy(nonce)
        for name, value in _HEADERS.items():
            headers[name] = value
        # No need to tell everybody which version of what to attack.
        headers.pop("Server", None)
        return status_code, headers, chunk


def add_headers(handler: RequestHandler) -> None:
    """Put the headers on one response, where scripts cannot be marked: inline ones may run."""
    for name, value in _HEADERS.items():
        handler.set_header(name, value)
    handler.set_header("Content-Security-Policy", _policy("'unsafe-inline'"))
    handler.clear_header("Server")


def content_security_policy(nonce: str = "") -> str:
    """The policy under which, of inline scripts, just those with the nonce run."""
    return _policy(f"'nonce-{nonce}'" if nonce else "")


def _policy(inline_scripts: str) -> str:
    policy = dict(_POLICY)
    if inline_scripts:
        policy["script-src"] += f" {inline_scripts}"
    return "; ".join(f"{name} {value}" for name, value in policy.items())


def check_origins(origins: Iterable[str], *, insecure: bool) -> list[str]:
    """Return the hosts whose pages may open a websocket, or say what is wrong with one.

    A pattern would let pages in that nobody thought of; ``*`` lets in every page that a user of
    this server happens to open elsewhere.
    """
    checked = []
    for origin in origins:
        host = re.sub(r"^https?://", "", origin).rstrip("/")
        if host == "*":
            if not insecure:
                raise InputError(
                    "--allow-origin '*' lets any web page read this server through its visitors' "
                    "browsers; name the host people type, or add --insecure if you must"
                )
        elif not _HOST.fullmatch(host):
            raise InputError(
                f"--allow-origin must be a host and port as in the address bar, such as "
                f"demand.example.org or 10.0.0.5:5006, got {origin!r}"
            )
        checked.append(host)
    return checked
