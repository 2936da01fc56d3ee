"""The choices of a run as command-line flags, and back to a config.

The parameters of backends and methods come from their registries: each is a flag, and one that
several have in common is one flag.
"""

import argparse
from collections.abc import Collection, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

from core.errors import InputError
from core.registry import Parameter

_FILE_LIMIT = 10_000_000


def add_choices(parser: argparse.ArgumentParser, *, without: Collection[str] = ()) -> None:
    """Add a flag for every field of ``RunConfig`` and every parameter in the registries.

    ``without`` names ``neighbors``, ``method`` or ``quality`` where a command chooses it itself.
    """
    from core.cube import BINS
    from core.density import RankBy
    from core.distance import Distance
    from core.embedding import METHODS
    from core.neighbors import BACKENDS
    from core.runs import config
    from core.units import MINIMUM_SAMPLE, UNITS

    what = parser.add_argument_group("what to map")
    what.add_argument("--unit", choices=UNITS, help="what one point is (default profiles)")
    what.add_argument("--household", metavar="ID", help="the household of unit slots")
    what.add_argument(
        "--households", metavar="ID,ID|@FILE", help="only these households (default all)"
    )
    what.add_argument(
        "--slots", metavar="SLOTS", help="as weekdays, evenings or Mon18:00-20:00,Tue (default all)"
    )
    what.add_argument(
        "--distance", choices=get_args(Distance), help="default tv for profiles, else hellinger"
    )
    _add(what, BINS)
    _add(what, config.WINDOW, "default 1, none for households")
    what.add_argument(
        "--reference",
        choices=get_args(config.Reference),
        help="whose readings the bins come from (default dataset)",
    )
    _add(what, MINIMUM_SAMPLE)

    how = parser.add_argument_group("how to map it")
    if "neighbors" not in without:
        how.add_argument(
            "--neighbors",
            choices=list(dict.fromkeys((config.AUTO, *BACKENDS))),
            help="who finds the neighbours "
            f"(default {config.AUTO}: the fastest that is nearly exact)",
        )
    _add(how, config.K)
    if "method" not in without:
        how.add_argument("--method", choices=list(METHODS), help="how to embed (default isomap)")
    _add(how, config.DIM)
    _add(how, config.SEED)
    if "quality" not in without:
        _add(how, config.QUALITY)
    _add(how, config.N_ANOMALIES)
    how.add_argument(
        "--rank-by",
        choices=get_args(RankBy),
        help="what makes an anomaly: low density on the map (default), far neighbours, or being "
        "unlike any mixture of them",
    )

    own = parser.add_argument_group("parameters of backends and methods")
    for owners in _owners().values():
        _add(own, owners[0][2], ", ".join(f"{who} {_default(p)}" for _, who, p in owners))


def read_config(arguments: argparse.Namespace) -> Any:
    """Make the config of what was given; raise for a parameter that has no part in the run."""
    from core.runs import RunConfig

    given = read_fields(arguments)
    defaults = {each.name: each.default for each in fields(RunConfig)}
    chosen = {name: given.get(name, defaults[name]) for name in ("neighbors", "method")}
    owners = _owners()
    for name, value in read_parameters(arguments).items():
        users = [field for field, who, _ in owners[name] if chosen[field] == who]
        if not users:
            wanted = " or ".join(f"--{field} {who}" for field, who, _ in owners[name])
            raise InputError(
                f"{owners[name][0][2].flag} belongs to {wanted}, but the run has "
                f"--neighbors {chosen['neighbors']} and --method {chosen['method']}; "
                f"leave it out, or choose {wanted}"
            )
        for field in users:
            given.setdefault(f"{field}_parameters", {})[name] = value
    return RunConfig(**given)


def read_fields(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of ``RunConfig`` that were given."""
    from core.runs import RunConfig

    given = {
        each.name: getattr(arguments, each.name)
        for each in fields(RunConfig)
        if getattr(arguments, each.name, None) is not None
    }
    if "households" in given:
        given["households"] = read_households(given["households"])
    return given


def read_parameters(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters of backends and methods that were given."""
    found = {name: getattr(arguments, name) for name in _owners()}
    return {name: value for name, value in found.items() if value is not None}


def read_households(text: str) -> tuple[str, ...]:
    """Read ``ID,ID`` or the ids in ``@FILE``, one a line or joined by commas."""
    from core.runs.repeat import split_ids

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
                f"({getattr(error, 'strerror', None) or error}); give ids, one a line"
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
    from core.embedding import METHODS
    from core.neighbors import BACKENDS

    for name, backend in BACKENDS.items():
        yield from (("neighbors", name, parameter) for parameter in backend.parameters)
    for name, method in METHODS.items():
        yield from (("method", name, parameter) for parameter in method.parameters)


def _default(parameter: Parameter) -> str:
    return f"{parameter.default:g}" if parameter.kind is float else str(parameter.default)


def _add(group: Any, parameter: Parameter, note: str = "") -> None:
    note = note or f"default {_default(parameter)}"
    text = f"{parameter.help} ({note})".replace("%", "%%")
    if parameter.kind is bool:
        group.add_argument(parameter.flag, action=argparse.BooleanOptionalAction, help=text)
    elif parameter.choices:
        group.add_argument(parameter.flag, choices=parameter.choices, help=text)
    else:
        metavar = "N" if parameter.kind is int else "X"
        group.add_argument(parameter.flag, type=parameter.kind, metavar=metavar, help=text)
