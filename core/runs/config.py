"""Everything about a run in one frozen object, and its forms: JSON and a token for a URL."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, Literal, Self, get_args

from core import tokens
from core.cube import BINS
from core.density import RankBy
from core.distance import Distance
from core.embedding import MAX_DIM, METHODS
from core.errors import InputError
from core.neighbors import BACKENDS
from core.registry import Parameter, Registry, Value
from core.slots import parse_slots
from core.units import DEFAULT_WINDOW, MINIMUM_SAMPLE, UNITS, Unit

VERSION = 1

Reference = Literal["dataset", "selection"]

K = Parameter(name="k", default=20, low=1, high=1000, help="neighbours of each point")
# Half the week of 5-minute readings; the dataset's own interval sets a tighter bound.
WINDOW = Parameter(
    name="window",
    default=DEFAULT_WINDOW,
    low=0,
    high=1007,
    help="slots on either side that a slot's sample takes in",
)
DIM = Parameter(name="dim", default=2, low=1, high=MAX_DIM, help="coordinates of the map")
SEED = Parameter(name="seed", default=1, low=0, high=2**32 - 1, help="same seed, same picture")
N_ANOMALIES = Parameter(
    name="n_anomalies", default=10, low=0, high=1000, help="how many anomalies are named"
)
QUALITY = Parameter(
    name="quality", default=False, help="measure how faithful the graph and the map are"
)

MAX_HOUSEHOLDS = 100_000
# Longer than any id that was ever seen, and short enough for a link.
MAX_TEXT = 20_000

# The backend that is predicted to be fastest.
AUTO = "auto"

_TEXTS: dict[str, tuple[str, ...]] = {
    "unit": UNITS,
    "distance": get_args(Distance),
    "reference": get_args(Reference),
    "rank_by": get_args(RankBy),
}
_NUMBERS = (BINS, WINDOW, MINIMUM_SAMPLE, K, DIM, SEED, N_ANOMALIES, QUALITY)


def default_distance(unit: str) -> Distance:
    """Total variation for profiles, as in the paper; Hellinger for the other units."""
    return "tv" if unit == "profiles" else "hellinger"


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """What to map and how. Everything is checked when the object is made.

    Attributes
    ----------
    unit : {'profiles', 'slots', 'households', 'household-slots'}
        What a point is.
    household : str, optional
        The one household of unit ``slots``.
    households : tuple of str, optional
        The households to use, kept sorted; all by default.
    slots : str, optional
        The slots to use, as :func:`core.slots.parse_slots` reads them; all by default.
    distance : {'hellinger', 'tv', 'js'}
        By default total variation for profiles and Hellinger for the other units.
    bins : int
        Bins of demand.
    window : int
        Slots on either side that a slot's sample takes in; 1 by default, 0 for ``households``.
    reference : {'dataset', 'selection'}
        Whose readings the bins come from.
    minimum_sample : int
        Units with fewer readings are left out.
    neighbors : str
        A neighbour backend.
    neighbors_parameters : mapping
        Its parameters; those that are not given take their defaults.
    k : int
        Neighbours of each point.
    method : str
        An embedding method.
    method_parameters : mapping
        Its parameters; those that are not given take their defaults.
    dim : int
        Coordinates of the map.
    seed : int
        Same seed, same picture.
    quality : bool
        Whether to measure recall and the quality of the embedding.
    n_anomalies : int
        How many anomalies are named.
    rank_by : {'density', 'isolation', 'surprise'}
        What makes a point anomalous, see :func:`core.density.hdr_density`.
    """

    unit: Unit = "profiles"
    household: str | None = None
    households: tuple[str, ...] | None = None
    slots: str | None = None
    distance: Distance = None  # type: ignore[assignment]  # the unit's own, set below
    bins: int = BINS.default  # type: ignore[assignment]
    window: int = None  # type: ignore[assignment]  # the unit's own, set below
    reference: Reference = "dataset"
    minimum_sample: int = MINIMUM_SAMPLE.default  # type: ignore[assignment]
    neighbors: str = AUTO
    neighbors_parameters: Mapping[str, Value] = field(default_factory=dict)
    k: int = K.default  # type: ignore[assignment]
    method: str = "isomap"
    method_parameters: Mapping[str, Value] = field(default_factory=dict)
    dim: int = DIM.default  # type: ignore[assignment]
    seed: int = SEED.default  # type: ignore[assignment]
    quality: bool = False
    n_anomalies: int = N_ANOMALIES.default  # type: ignore[assignment]
    rank_by: RankBy = "density"

    def __post_init__(self) -> None:
        for name, value in self._checked().items():
            object.__setattr__(self, name, value)

    def __hash__(self) -> int:
        return hash(json.dumps(self.to_json(), sort_keys=True))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_json, (self.to_json(),)

    def _checked(self) -> dict[str, Any]:
        """Every field in its normal form."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        _check_choice("unit", self.unit)
        if self.distance is None:
            given["distance"] = default_distance(self.unit)
        if self.window is None:
            given["window"] = 0 if self.unit == "households" else WINDOW.default
        for name in _TEXTS:
            _check_choice(name, given[name])
        for number in _NUMBERS:
            given[number.name] = number.validate(given[number.name])
        if self.unit == "households" and given["window"]:
            raise InputError(
                "households are pooled over the week and take no window; leave window out, "
                f"got {self.window}"
            )
        given["household"] = _check_household(self.household, self.unit)
        given["households"] = _check_households(self.households)
        if self.household is not None and self.households is not None:
            raise InputError("give household or households, not both")
        if self.slots is not None:
            # Minutes divide every interval, so this finds what is wrong whatever the dataset.
            parse_slots(_check_text("slots", self.slots), 1)
        for name, registry in (("neighbors", BACKENDS), ("method", METHODS)):
            given[f"{name}_parameters"] = _settings(registry, name, given)
        _check_searchable(self.neighbors, given["distance"])
        return given

    def change(self, **changes: Any) -> Self:
        """Return this config with other fields.

        What belongs to a choice that changes and is not given falls back to its default: the
        parameters of a backend or method, the distance, window and household of a unit.
        """
        for choice, dependents in (
            ("neighbors", {"neighbors_parameters": {}}),
            ("method", {"method_parameters": {}}),
            ("unit", {"distance": None, "window": None, "household": None}),
        ):
            if changes.get(choice, getattr(self, choice)) != getattr(self, choice):
                changes = {**dependents, **changes}
        return replace(self, **changes)

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
        known = [each.name for each in fields(cls)]
        for extra in given.keys() - set(known):
            raise InputError(f"a run has no field {extra!r}; it has {', '.join(known)}")
        return cls(**given)

    def changed_fields(self) -> dict[str, Any]:
        """Return the fields that are not at their defaults, as JSON has them.

        A config made of them is equal to this one.
        """
        plain = self._plain()
        # With the distance, too: not every backend can search by the unit's own.
        choices = {name: plain[name] for name in ("unit", "distance", "neighbors", "method")}
        plain_default = RunConfig(**choices)._plain() | {"distance": default_distance(self.unit)}
        changed = {}
        for each in fields(self):
            value, default = plain[each.name], plain_default[each.name]
            if each.name in ("unit", "neighbors", "method"):
                default = each.default
            elif isinstance(value, dict):
                value = {key: value[key] for key in value if value[key] != default[key]}
                default = {}
            if value != default:
                changed[each.name] = value
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
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        if self.households is not None:
            plain["households"] = list(self.households)
        for name in ("neighbors_parameters", "method_parameters"):
            plain[name] = dict(plain[name])
        return plain


def _check_choice(name: str, value: Any) -> None:
    if value not in _TEXTS[name]:
        raise InputError(f"{name} must be one of {', '.join(_TEXTS[name])}, got {value!r}")


def _check_text(name: str, value: Any) -> str:
    # Half a surrogate pair, which JSON can spell, is no text that could be written anywhere.
    if (
        not isinstance(value, str)
        or not 0 < len(value) <= MAX_TEXT
        or any("\ud800" <= character <= "\udfff" for character in value)
    ):
        raise InputError(f"{name} must be a text of 1 to {MAX_TEXT} characters, got {value!r:.60}")
    return value


def _check_household(household: Any, unit: str) -> str | None:
    if household is None:
        return None
    if unit != "slots":
        raise InputError(
            f"household {household!r} is given, but a point is one of {unit}; "
            "choose unit slots, or give households"
        )
    return _check_text("household", household)


def _check_households(households: Any) -> tuple[str, ...] | None:
    if households is None:
        return None
    if not isinstance(households, list | tuple) or not 0 < len(households) <= MAX_HOUSEHOLDS:
        raise InputError(
            f"households must be 1 to {MAX_HOUSEHOLDS:,} ids, got {households!r:.60}; "
            "leave it out for all"
        )
    return tuple(sorted({_check_text("households", name) for name in households}))


def _check_searchable(neighbors: str, distance: str) -> None:
    able = [name for name, backend in BACKENDS.items() if distance in backend.distances]
    if neighbors not in (AUTO, *able):
        raise InputError(
            f"distance {distance!r} cannot be searched by neighbors {neighbors!r}; "
            f"choose neighbors {', '.join((AUTO, *able))}"
        )


def _settings(registry: Registry[Any], name: str, given: Mapping[str, Any]) -> Mapping[str, Value]:
    chosen = given[name]
    names = (AUTO, *registry) if registry is BACKENDS else tuple(registry)
    if chosen not in names:
        raise InputError(f"{name} must be one of {', '.join(names)}, got {chosen!r}")
    parameters = given[f"{name}_parameters"]
    if not isinstance(parameters, Mapping):
        raise InputError(f"{name}_parameters must be names with values, got {parameters!r:.60}")
    if chosen == AUTO:
        for extra in parameters:
            raise InputError(f"neighbors {AUTO!r} takes no parameters, got {extra!r}")
        return MappingProxyType({})
    return MappingProxyType(registry.settings(chosen, parameters))
