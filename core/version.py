"""Which Wattfold this is: the version, and the commit it was built from where that is known."""

import os
from functools import cache
from importlib.metadata import version
from pathlib import Path

_CHECKOUT = Path(__file__).parents[1]
_LENGTH = 10


@cache
def build() -> str:
    """The commit: what ``WATTFOLD_BUILD`` says, or that of the checkout; empty if neither."""
    return os.environ.get("WATTFOLD_BUILD") or commit_of(_CHECKOUT)


def describe() -> str:
    """Version and build as people read them, such as ``0.2.0 (build 0123456789)``."""
    suffix = f" (build {build()})" if build() else ""
    return f"{version('wattfold')}{suffix}"


def commit_of(checkout: Path) -> str:
    """The first characters of the commit that a checkout is at; empty if it is no checkout.

    Read from the files of git, which need not be installed where Wattfold runs.
    """
    git = checkout / ".git"
    try:
        if git.is_file():  # a linked working tree
            git = Path(checkout, git.read_text().removeprefix("gitdir:").strip())
        head = (git / "HEAD").read_text().strip()
        if not head.startswith("ref:"):
            return head[:_LENGTH]
        name = head.removeprefix("ref:").strip()
        shared = git / "commondir"
        home = Path(git, shared.read_text().strip()) if shared.is_file() else git
        if (home / name).is_file():
            return (home / name).read_text().strip()[:_LENGTH]
        packed = (home / "packed-refs").read_text().splitlines()
        return next((line[:_LENGTH] for line in packed if line.endswith(f" {name}")), "")
    except OSError:
        return ""
