"""Everything about a run in one frozen object, and its forms: JSON and a token for a URL."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Self

from core import tokens
from core.errors import InputError
from core.fields import AUTO, FIELDS, MAX_METRIC_DIM, RunFields
from core.neighbors import BACKENDS
from core.periods import Period
from core.registry import Value

VERSION = 1

# The fields whose choice comes with parameters of its own.
REGISTERED = tuple(name for name, field in FIELDS.items() if field.registry)


@dataclass(frozen=True, kw_only=True)
class RunConfig(RunFields):
    """What to map and how. Everything is checked when the object is made.

    :class:`core.fields.RunFields` declares the fields. ``distance`` and ``window`` have defaults
    that depend on the unit; ``households`` are kept sorted; the parameters of a backend or method
    that are not given take their defaults.
    """

    def __post_init__(self) -> None:
        for name, value in self._checked().items():
            object.__setattr__(self, name, value)

    def __hash__(self) -> int:
        return hash(json.dumps(self.to_json(), sort_keys=True))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_json, (self.to_json(),)

    @property
    def period(self) -> Period:
        """The days that count."""
        return Period.parse(self.first_day, self.last_day, self.months)

    def _checked(self) -> dict[str, Any]:
        """Every field in its normal form."""
        given = {name: getattr(self, name) for name in FIELDS}
        unit = FIELDS["unit"].validate(self.unit)
        for name, field in FIELDS.items():
            if given[name] is None and field.unit_defaults:
                given[name] = field.default_of(unit)
            given[name] = field.validate(given[name])
        _check_unit(unit, given)
        Period.parse(*(given[name] for name in ("first_day", "last_day", "months")))
        for name in REGISTERED:
            parameters = _settings(name, given[name], given[f"{name}_parameters"])
            given[f"{name}_parameters"] = MappingProxyType(parameters)
        _check_searchable(self.neighbors, given["distance"])
        if given["density"] == "corrected" and given["dim"] > MAX_METRIC_DIM:
            raise InputError(
                f"the density of a map with {given['dim']} axes cannot be corrected; choose dim up "
                f"to {MAX_METRIC_DIM}, or density plain"
            )
        return given

    def change(self, **changes: Any) -> Self:
        """Return this config with other fields.

        What belongs to a choice that changes and is not given falls back to its default: the
        parameters of a backend or method, the distance, window and household of a unit.
        """
        of_unit = [name for name, field in FIELDS.items() if field.unit_defaults]
        belonging: dict[str, dict[str, Any]] = {
            **{name: {f"{name}_parameters": {}} for name in REGISTERED},
            "unit": dict.fromkeys([*of_unit, "household"]),
        }
        for choice, dependents in belonging.items():
            if changes.get(choice, getattr(self, choice)) != getattr(self, choice):
                changes = {**dependents, **changes}
        return replace(self, **changes)

    @property
    def needs_surprise(self) -> bool:
        """Whether surprise is measured: to rank the points, or to say what is unusual about one.

        Of households :func:`core.find_anomalies` says that.
        """
        return self.rank_by == "surprise" or self.unit in ("slots", "household-slots")

    def to_json(self) -> dict[str, Any]:
        """Return every field as JSON has it, with the version."""
        return {"version": VERSION, **self._plain()}

    @classmethod
    def from_json(cls, content: Any) -> Self:
        """Read what :meth:`to_json` gave; fields that are absent take their defaults."""
        if not isinstance(content, Mapping):
            raise InputError(f"a run is described by a JSON object, got {type(content).__name__}")
        given = dict(content)
        version = given.pop("version", None)
        if version != VERSION or isinstance(version, bool):
            raise InputError(
                f"the run was saved in version {version!r} of its format and this Wattfold reads "
                f"version {VERSION}; make the run again, or use the Wattfold that saved it"
            )
        for extra in given.keys() - FIELDS.keys():
            raise InputError(f"a run has no field {extra!r}; it has {', '.join(FIELDS)}")
        return cls(**given)

    def changed_fields(self) -> dict[str, Any]:
        """Return the fields that are not at their defaults, as JSON has them.

        A config made of them is equal to this one.
        """
        changed = {}
        for name, value in self._plain().items():
            if isinstance(value, dict):
                choice = name.removesuffix("_parameters")
                default = _settings(choice, getattr(self, choice), {})
                value = {key: value[key] for key in value if value[key] != default[key]}
                default = {}
            else:
                default = FIELDS[name].default_of(self.unit)
            if value != default:
                changed[name] = value
        return changed

    def to_token(self) -> str:
        """Return a short text for a URL: letters, digits, ``-`` and ``_``."""
        return tokens.pack(self.changed_fields(), version=VERSION)

    @classmethod
    def from_token(cls, token: str) -> Self:
        """Read what :meth:`to_token` gave; anything else is refused."""
        content = tokens.unpack(token, version=VERSION, what="the link's run")
        if not isinstance(content, dict) or "version" in content:
            raise InputError("the link's run is damaged; make the link again")
        return cls.from_json({**content, "version": VERSION})

    def _plain(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in FIELDS}
        for name, value in values.items():
            if isinstance(value, tuple):
                values[name] = list(value)
            elif isinstance(value, Mapping):
                values[name] = dict(value)
        return values


def _check_unit(unit: str, given: Mapping[str, Any]) -> None:
    """Refuse what has no part in a run of that unit."""
    household = given["household"]
    if not FIELDS["household"].applies_to(unit) and household is not None:
        raise InputError(
            f"household {household!r} is given, but a point is one of {unit}; "
            "choose unit slots, or give households"
        )
    if household is not None and given["households"] is not None:
        raise InputError("give household or households, not both")
    if not FIELDS["window"].applies_to(unit) and given["window"]:
        raise InputError(
            f"{unit} are pooled over the week and take no window; leave window out, "
            f"got {given['window']}"
        )


def _check_searchable(neighbors: str, distance: str) -> None:
    able = [name for name, backend in BACKENDS.items() if distance in backend.distances]
    if neighbors not in (AUTO, *able):
        raise InputError(
            f"distance {distance!r} cannot be searched by neighbors {neighbors!r}; "
            f"choose neighbors {', '.join((AUTO, *able))}"
        )


def _settings(field: str, choice: str, given: Mapping[str, Any]) -> dict[str, Value]:
    """All parameters of what a field chooses: those given, and defaults for the rest."""
    registry = FIELDS[field].entries
    if choice in registry:
        return registry.settings(choice, given)  # type: ignore[union-attr]  # it is registered
    for extra in given:
        raise InputError(f"{field} {choice!r} takes no parameters, got {extra!r}")
    return {}
