"""Small JSON values as short texts for a URL, and back without trusting them."""

import base64
import binascii
import json
import zlib
from typing import Any

from core.errors import InputError

# What arrives from a URL is small or refused: this many characters, this many bytes unpacked.
MAX_TOKEN = 1 << 16
MAX_UNPACKED = 1 << 20


def pack(content: Any, *, version: int) -> str:
    """Return a text of letters, digits, ``-`` and ``_`` that begins with the version."""
    plain = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    packed = zlib.compress(plain.encode(), 9)
    return f"{version}-" + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def unpack(token: str, *, version: int, what: str) -> Any:
    """Return what was packed; ``what`` names it in the error for anything else."""
    if len(token) > MAX_TOKEN:
        raise InputError(f"{what} has {len(token):,} characters; at most {MAX_TOKEN:,}")
    found, _, body = token.partition("-")
    if found != str(version):
        raise InputError(
            f"{what} begins with {found[:20]!r} where this Wattfold reads version {version}; "
            "make the link again"
        )
    try:
        packed = base64.b64decode(body + "=" * (-len(body) % 4), altchars=b"-_", validate=True)
        unpacking = zlib.decompressobj()
        plain = unpacking.decompress(packed, MAX_UNPACKED)
        if not unpacking.eof:
            raise ValueError("it is cut short, or unpacks to too much")
        return json.loads(plain)
    except (ValueError, binascii.Error, zlib.error, RecursionError) as error:
        raise InputError(f"{what} cannot be read ({error}); make the link again") from None
