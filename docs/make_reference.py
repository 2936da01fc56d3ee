"""The reference pages, made from the code itself whenever the documentation is built.

Backends, methods and formats come from their registries, the commands from their parsers, the
library from its docstrings, the fields of a run from their declarations: a page cannot describe a
parameter that does not exist.
"""

import os
from collections.abc import Iterable
from importlib import import_module
from inspect import isclass, isfunction
from pathlib import Path

from core import _HOMES
from core.cli import build_parser
from core.commands import COMMANDS
from core.embedding import METHODS
from core.fields import FIELDS
from core.neighbors import BACKENDS
from core.readings.formats import FORMATS
from core.registry import Parameter
from dashboard.server import serve

_RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"

_WIDTH = "92"


def write_reference(folder: Path) -> None:
    """Write all pages of the reference; a page that has not changed is left alone."""
    for name, text in pages().items():
        path = folder / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def pages() -> dict[str, str]:
    """Return the pages by name."""
    measured = {path.stem: path.read_text(encoding="utf-8") for path in _RESULTS.glob("*.md")}
    return {
        "commands": _commands(),
        "fields": _fields(),
        "backends": _backends(),
        "methods": _methods(),
        "formats": _formats(),
        "library": _library(),
        "measured/index": _measured(measured),
        **{f"measured/{name}": text for name, text in measured.items()},
    }


def _commands() -> str:
    lines = [
        "# The command line",
        "",
        "What `wattfold COMMAND --help` prints. Every command ends with status 0, or with 2 and "
        "one line that says what is wrong and what to do.",
    ]
    for command in (*COMMANDS, serve):
        lines += ["", f"## wattfold {command.NAME}", "", "```text", _help(command.NAME), "```"]
    return "\n".join(lines) + "\n"


def _help(name: str) -> str:
    commands = (*COMMANDS, serve)
    [subparsers] = build_parser(commands, [name])._subparsers._group_actions  # type: ignore[union-attr]
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = _WIDTH  # argparse fits its lines to the terminal
    try:
        return subparsers.choices[name].format_help().rstrip()  # type: ignore[index]
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before


def _fields() -> str:
    lines = [
        "# The fields of a run",
        "",
        "What a map is made of: the fields of `RunConfig` in Python, the flags of `wattfold embed` "
        "and the settings of the page. They have the same bounds in all of these, in links and in "
        "session files. A change of a field computes its stage again, and those after it.",
        "",
        "| field | on the page | flag | default | allowed | meaning | first stage |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, field in FIELDS.items():
        flag = "those of the parameters" if field.is_settings else f"`{field.flag}`"
        default = "" if field.is_settings else field.default_words
        row = (f"`{name}`", field.label, flag, default, field.bounds, field.help, field.stage)
        lines.append(_row(row))
    return "\n".join(lines) + "\n"


def _backends() -> str:
    lines = [
        "# Neighbour backends",
        "",
        "`--neighbors NAME` on the command line, `find_neighbors(vectors, backend=NAME)` in "
        'Python, "Neighbours by" on the page. `auto` takes `exact` as long as that is predicted '
        "to take less than a minute, and else the fastest of those that it may choose.",
        "",
        "| name | distances | repeatable | `auto` may choose it |",
        "|---|---|---|---|",
    ]
    for name, backend in BACKENDS.items():
        repeatable = "always" if backend.deterministic else "see below"
        may = "yes" if backend.automatic or name == "exact" else "no"
        row = (f"[`{name}`](#{name})", ", ".join(backend.distances), repeatable, may)
        lines.append(_row(row))
    for name, backend in BACKENDS.items():
        lines += ["", f"## {name}", "", f"**{backend.title}.** {backend.help}"]
        lines += _parameters(backend.parameters)
    return "\n".join(lines) + "\n"


def _methods() -> str:
    lines = [
        "# Methods",
        "",
        "`--method NAME` on the command line, `embed(NAME, neighbors, vectors)` in Python, "
        '"Map by" on the page. Each is fed the neighbours that the chosen backend found.',
    ]
    for name, method in METHODS.items():
        sentence = method.help if method.help.endswith(".") else f"{method.help}."
        lines += ["", f"## {name}", "", f"**{method.title}.** {sentence}"]
        lines += _parameters(method.parameters)
    return "\n".join(lines) + "\n"


def _formats() -> str:
    lines = [
        "# Formats",
        "",
        "`wattfold ingest --format NAME`; without it, the first that recognises a file, in this "
        "order, reads it.",
        "",
        "| name | title | what it is | a time marks |",
        "|---|---|---|---|",
    ]
    for name, each in FORMATS.items():
        lines.append(_row((f"`{name}`", each.title, each.help, f"the {each.stamp}")))
    return "\n".join(lines) + "\n"


def _library() -> str:
    lines = [
        "# The library",
        "",
        "What `import wattfold as wf` offers. Modules are imported when a name of theirs is first "
        "used. All but `explore`, `open` and `read` are also names of `core`.",
    ]
    homes = dict.fromkeys(("explore", "open", "read"), "wattfold")
    homes |= {name: f"core.{home}" for name, home in _HOMES.items()}
    for name, home in sorted(homes.items(), key=lambda item: item[0].lower()):
        member = getattr(import_module(home), name)
        lines += ["", f"## {name}", "", f"`wf.{name}`", ""]
        if isclass(member):
            directive = f".. autoclass:: {home}.{name}\n   :members:"
        elif isfunction(member):
            directive = f".. autofunction:: {home}.{name}"
        else:
            lines.append(f"The registry of every {member.what}: {', '.join(member)}.")
            continue
        lines += ["```{eval-rst}", directive, "```"]
    return "\n".join(lines) + "\n"


def _measured(names: Iterable[str]) -> str:
    lines = [
        "# Measurements",
        "",
        "What the benchmarks measured, each with the command that repeats it; `make bench` runs "
        "them all.",
        "",
        "```{toctree}",
        *sorted(names),
        "```",
    ]
    return "\n".join(lines) + "\n"


def _parameters(parameters: Iterable[Parameter]) -> list[str]:
    rows = [
        _row((f"`{each.name}`", f"`{each.flag}`", f"{each.default}", each.bounds, each.help))
        for each in parameters
    ]
    if not rows:
        return ["", "It has no parameters."]
    return [
        "",
        "| parameter | flag | default | allowed | meaning |",
        "|---|---|---|---|---|",
        *rows,
    ]


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
