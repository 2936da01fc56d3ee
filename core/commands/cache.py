"""``wattfold cache``: what is stored of earlier runs, and how to remove it."""

import argparse
from typing import Any

from core.progress import Progress

NAME = "cache"
HELP = "say what is stored of earlier runs, or remove it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("action", choices=["info", "clear"], help="say or remove what is stored")


def run(arguments: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    """Return what is stored, or what was removed."""
    from core.runs import Store

    store = Store.default()
    found = store.clear() if arguments.action == "clear" else store.entries()
    stages: dict[str, dict[str, int]] = {}
    for stored in found:
        stage = stages.setdefault(stored.path.parent.name, {"entries": 0, "bytes": 0})
        stage["entries"] += 1
        stage["bytes"] += stored.bytes
    return {
        "action": arguments.action,
        "path": str(store.path),
        "limit_bytes": store.limit_bytes,
        "entries": len(found),
        "bytes": sum(stored.bytes for stored in found),
        "stages": dict(sorted(stages.items())),
    }


def render(result: dict[str, Any]) -> str:
    """Say it to people."""
    size = f"{result['entries']:,} results, {result['bytes'] / 1e6:,.1f} MB"
    if result["action"] == "clear":
        return f"removed       {size} from {result['path']}"
    lines = [f"cache         {result['path']}"]
    lines.append(f"stored        {size} of at most {result['limit_bytes'] / 1e6:,.0f} MB")
    lines += [
        f"  {name:<12}{stage['entries']:,} results, {stage['bytes'] / 1e6:,.1f} MB"
        for name, stage in result["stages"].items()
    ]
    return "\n".join(lines)
