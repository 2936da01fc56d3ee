"""The flags of ``IngestOptions``, which ``ingest`` and ``append`` share."""

import argparse
from dataclasses import fields
from typing import Any


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add one flag per field; a flag that is not given leaves no trace."""
    from core.readings import IngestOptions
    from core.readings.formats import FORMATS

    for each in fields(IngestOptions):
        flag, help, argument = (each.metadata[key] for key in ("flag", "help", "argument"))
        argument = dict(argument)
        if each.name == "format":
            argument["choices"] = ["auto", *FORMATS]
            help = "; ".join(f"{name}: {format.help}" for name, format in FORMATS.items())
        if argument.get("action") == "boolean":
            argument["action"] = argparse.BooleanOptionalAction
        parser.add_argument(flag, dest=each.name, help=help, default=argparse.SUPPRESS, **argument)


def said_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the fields that the user gave."""
    from core.readings import IngestOptions

    given = vars(arguments)
    said = {each.name: given[each.name] for each in fields(IngestOptions) if each.name in given}
    return {key: tuple(value) if isinstance(value, list) else value for key, value in said.items()}
