"""The choices of a run as command-line flags, and back to a config.

The parameters of backends and methods come from their registries: each is a flag, and one that
several have in common is one flag.
"""

import argparse
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.fields import FIELDS, Field
from core.registry import Parameter

_FILE_LIMIT = 10_000_000

# The stages that make the points of a map; later ones say how the map is made of them.
_WHAT = ("cube", "vectors")


def add_choices(parser: argparse.ArgumentParser, *, without: Collection[str] = ()) -> None:
    """Add a flag for every field of a run and every parameter in the registries.

    ``without`` names fields that a command chooses itself.
    """
    what = parser.add_argument_group("what to map")
    how = parser.add_argument_group("how to map it")
    for field in FIELDS.values():
        if field.name not in without and not field.is_settings:
            add_flag(what if field.stage in _WHAT else how, field)
    own = parser.add_argument_group("parameters of backends and methods")
    for owners in _owners().values():
        defaults = ", ".join(f"{owner} {parameter.default_words}" for _, owner, parameter in owners)
        add_flag(own, owners[0][2], defaults)


def read_config(arguments: argparse.Namespace) -> Any:
    """Make the config of what was given; raise for a parameter that has no part in the run."""
    from core.runs import RunConfig

    given = read_fields(arguments)
    chosen = {
        name: given.get(name, field.default) for name, field in FIELDS.items() if field.registry
    }
    owners = _owners()
    for name, value in read_parameters(arguments).items():
        users = [field for field, owner, _ in owners[name] if chosen[field] == owner]
        if not users:
            wanted = " or ".join(f"--{field} {owner}" for field, owner, _ in owners[name])
            raise InputError(
                f"{owners[name][0][2].flag} belongs to {wanted}, but the run has "
                f"--neighbors {chosen['neighbors']} and --method {chosen['method']}; "
                f"leave it out, or choose {wanted}"
            )
        for field in users:
            given.setdefault(f"{field}_parameters", {})[name] = value
    return RunConfig(**given)


def read_fields(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of a run that were given."""
    given = {
        name: getattr(arguments, name)
        for name in FIELDS
        if getattr(arguments, name, None) is not None
    }
    if "households" in given:
        given["households"] = read_households(given["households"])
    return given


def read_flag(arguments: argparse.Namespace, parameter: Parameter) -> Any:
    """Return what was given for one parameter, checked; its default where nothing was."""
    given = getattr(arguments, parameter.name)
    return parameter.validate(parameter.default if given is None else given)


def read_parameters(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters of backends and methods that were given."""
    found = {name: getattr(arguments, name) for name in _owners()}
    return {name: value for name, value in found.items() if value is not None}


def read_households(text: str) -> tuple[str, ...]:
    """Read ``ID,ID`` or the ids in ``@FILE``, one per line or joined by commas."""
    from core.runs.reproduce import split_ids

    where = "--households"
    if text.startswith("@"):
        where = text[1:]
        try:
            if Path(where).stat().st_size > _FILE_LIMIT:
                raise InputError(f"{where} is too large for a list of households")
            text = Path(where).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"{where} cannot be read as a list of households "
                f"({getattr(error, 'strerror', None) or error}); give ids, one per line"
            ) from error
    ids = split_ids(text)
    if not ids:
        raise InputError(f"{where} names no household; give ids joined by commas")
    return tuple(ids)


Owner = tuple[str, str, Parameter]


def _owners() -> dict[str, list[Owner]]:
    """Every parameter of the registries with its owners: field of the config, name, itself."""
    owners: dict[str, list[Owner]] = {}
    for owner in _parameters():
        owners.setdefault(owner[2].name, []).append(owner)
    return owners


def _parameters() -> Iterator[Owner]:
    for field in FIELDS.values():
        for name, entry in field.entries.items():
            yield from ((field.name, name, parameter) for parameter in entry.parameters)


def add_flag(group: Any, parameter: Parameter, default: str = "") -> None:
    """Add the flag of a field or of a parameter; ``default`` describes its default."""
    default = default or parameter.default_words
    text = parameter.help + (f" (default {default})" if default else "")
    text = text.replace("%", "%%")
    name = parameter.name
    if parameter.kind is bool:
        group.add_argument(
            parameter.flag, dest=name, action=argparse.BooleanOptionalAction, help=text
        )
    elif parameter.options:
        group.add_argument(parameter.flag, dest=name, choices=parameter.options, help=text)
    elif parameter.kind is str:
        metavar = parameter.metavar if isinstance(parameter, Field) else "TEXT"
        group.add_argument(parameter.flag, dest=name, metavar=metavar, help=text)
    else:
        metavar = "N" if parameter.kind is int else "X"
        group.add_argument(
            parameter.flag, dest=name, type=parameter.kind, metavar=metavar, help=text
        )
