"""The fields of a run, each declared once.

A declaration says what a field is called, what it may be, what it is for and which stage depends
on it. The config, the flags of the command line, the page, the digests and the reference read it
here, so a new field is one entry of :class:`RunFields` and a test of what it does. Nothing heavy
is imported: ``wattfold embed --help`` reads the declarations, too.
"""

# ruff: noqa: RUF009 (`_declare` returns what dataclasses.field returns)

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from types import MappingProxyType
from typing import Any, Literal

from core.errors import InputError
from core.registry import Parameter, Registry, Value

Unit = Literal["profiles", "slots", "households", "household-slots"]
Distance = Literal["hellinger", "tv", "js"]
Reference = Literal["dataset", "selection"]
RankBy = Literal["density", "isolation", "surprise"]
Density = Literal["plain", "corrected"]
Bandwidth = Literal["plug-in", "wide"]
Stage = Literal["cube", "vectors", "neighbors", "embedding", "density"]

# The backend that is predicted to be fastest.
AUTO = "auto"

MAX_HOUSEHOLDS = 100_000
# Longer than any id that was ever seen, and short enough for a link.
MAX_TEXT = 20_000
# K neighbours say little about the distortion of a map with more axes than this.
MAX_METRIC_DIM = 10

FIRST_VERSION = "0.1"


@dataclass(frozen=True, kw_only=True)
class Field(Parameter):
    """One field of a run.

    Attributes
    ----------
    default : value, optional
        None where nothing is chosen.
    unit_defaults : mapping
        The default for the units that have another than ``default``.
    titles : mapping
        The allowed values, with their names on the page.
    registry : str
        ``module:NAME`` of the registry that lists the allowed values, besides ``titles``.
    suggestions : mapping
        Values that the page offers for a text, with their names there.
    check : callable, optional
        For what is neither a number nor one of a list: takes the value and the field's name, gives
        the value in its normal form, or raises ``InputError``.
    allowed : str
        What that accepts, in words.
    units : tuple of str
        The units that the field applies to; all by default.
    label : str
        Its name on the page.
    shown : {'first', 'map', 'more', 'never'}
        Whether the page shows it at once, with how the map is made, with what is seldom changed,
        or not at all.
    metavar : str
        What stands for a text in the help of the command line.
    default_text : str
        The default in words, where it says more than the value.
    spelling : str
        The flag without its dashes, where it is not the name.
    stage : str
        The first stage that depends on it; empty where nothing that is stored does.
    since : str
        The version of Wattfold that it came with. A field that came after 0.1 is part of a digest
        only where it is not at its default, so that what was stored before is still found.
    """

    default: Any = None
    unit_defaults: Mapping[str, Value] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    registry: str = ""
    suggestions: Mapping[str, str] = field(default_factory=dict)
    check: Callable[[Any, str], Any] | None = None
    allowed: str = ""
    units: tuple[str, ...] = ()
    label: str = ""
    shown: Literal["first", "map", "more", "never"] = "more"
    metavar: str = ""
    default_text: str = ""
    spelling: str = ""
    stage: Stage | Literal[""] = ""
    since: str = FIRST_VERSION

    @property
    def options(self) -> tuple[str, ...]:
        """The allowed values; empty where they are not a list."""
        return tuple(self.option_titles)

    @property
    def option_titles(self) -> dict[str, str]:
        """The allowed values, with their names on the page."""
        registered = {name: entry.title for name, entry in self.entries.items()}
        return {**self.titles, **registered}

    @property
    def entries(self) -> Registry[Any] | dict[str, Any]:
        """What is registered under the allowed values; empty where they are declared here."""
        if not self.registry:
            return {}
        module, _, name = self.registry.partition(":")
        registry: Registry[Any] = getattr(import_module(module), name)
        return registry

    @property
    def kind(self) -> type:
        """The Python type of the value; that of a text where nothing is chosen by default."""
        return str if self.default is None else type(self.default)

    @property
    def flag(self) -> str:
        """The command-line spelling."""
        return f"--{self.spelling}" if self.spelling else super().flag

    @property
    def sentence(self) -> str:
        """The help as a sentence without its full stop, as the page has it."""
        return self.help[:1].upper() + self.help[1:]

    @property
    def is_settings(self) -> bool:
        """Whether it holds the parameters of a backend or method, which have names of their own."""
        return isinstance(self.default, Mapping)

    @property
    def bounds(self) -> str:
        """The allowed values in words."""
        return self.allowed or super().bounds

    @property
    def default_words(self) -> str:
        """The default in words."""
        if self.default_text:
            return self.default_text
        if not self.unit_defaults:
            return "" if self.default is None else super().default_words
        other = ", ".join(f"{value} for {unit}" for unit, value in self.unit_defaults.items())
        return f"{other}, else {self.default}"

    def default_of(self, unit: str) -> Any:
        """The default for a unit."""
        return self.unit_defaults.get(unit, self.default)

    def applies_to(self, unit: str) -> bool:
        """Whether a run of that unit has a use for the field."""
        return not self.units or unit in self.units

    def validate(self, value: Any) -> Any:
        """Return the value in its normal form, or say what is wrong with it."""
        if self.default is None and value is None:
            return None
        return super().validate(value) if self.check is None else self.check(value, self.name)


def _declare(**declaration: Any) -> Any:
    """Declare a field in the body of :class:`RunFields`, which gives it its name and type."""
    declared = Field(name="", **declaration)
    metadata = {"declared": declared}
    if declared.is_settings:
        return field(default_factory=dict, metadata=metadata)
    # None stands for the default of the unit, which is known when a config is made.
    return field(default=None if declared.unit_defaults else declared.default, metadata=metadata)


def _check_text(value: Any, name: str) -> str:
    # Half a surrogate pair, which JSON can spell, is no text that could be written anywhere.
    if (
        not isinstance(value, str)
        or not 0 < len(value) <= MAX_TEXT
        or any("\ud800" <= character <= "\udfff" for character in value)
    ):
        raise InputError(f"{name} must be a text of 1 to {MAX_TEXT} characters, got {value!r:.60}")
    return value


def _check_ids(value: Any, name: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not 0 < len(value) <= MAX_HOUSEHOLDS:
        raise InputError(
            f"{name} must be 1 to {MAX_HOUSEHOLDS:,} ids, got {value!r:.60}; leave it out for all"
        )
    return tuple(sorted({_check_text(each, name) for each in value}))


def _check_slots(value: Any, name: str) -> str:
    from core.slots import parse_slots

    text = _check_text(value, name)
    # Minutes divide every interval, so this finds what is wrong whatever the dataset.
    parse_slots(text, 1)
    return text


def _check_first_day(value: Any, name: str) -> str:
    from core.periods import parse_date

    return parse_date(_check_text(value, name), end=False).isoformat()


def _check_last_day(value: Any, name: str) -> str:
    from core.periods import parse_date

    return parse_date(_check_text(value, name), end=True).isoformat()


def _check_months(value: Any, name: str) -> str | None:
    from core.periods import Period

    months = Period.parse(months=_check_text(value, name)).months
    return ",".join(map(str, months)) or None


def _check_settings(value: Any, name: str) -> Any:
    if not isinstance(value, Mapping):
        raise InputError(f"{name} must be names with values, got {value!r:.60}")
    return value


@dataclass(frozen=True, kw_only=True)
class RunFields:
    """What to map and how, in the order of the command line and the page."""

    unit: Unit = _declare(
        default="profiles",
        titles={
            "profiles": "a household's whole week",
            "slots": "a half-hour of one household",
            "households": "a household, pooled",
            "household-slots": "a half-hour of any household",
        },
        help="what one point on the map stands for",
        label="Each point shows",
        shown="first",
        stage="vectors",
    )
    household: str | None = _declare(
        check=_check_text,
        allowed="an id",
        units=("slots",),
        metavar="ID",
        help="the household whose slots are mapped",
        label="Household",
        shown="first",
        stage="vectors",
    )
    households: tuple[str, ...] | None = _declare(
        check=_check_ids,
        allowed="ids",
        units=("profiles", "households", "household-slots"),
        metavar="ID,ID|@FILE",
        default_text="all",
        help="the households to map",
        label="Households",
        shown="first",
        stage="vectors",
    )
    slots: str | None = _declare(
        check=_check_slots,
        allowed="days and hours",
        suggestions={"weekdays": "Weekdays", "weekend": "Weekend", "evenings": "Evenings"},
        metavar="SLOTS",
        default_text="the whole week",
        help="which times of the week count, as weekdays, evenings or Mon18:00-20:00,Tue",
        label="Times of the week",
        stage="vectors",
    )
    first_day: str | None = _declare(
        check=_check_first_day,
        allowed="a date, such as 2012-12-01",
        metavar="DATE",
        spelling="from",
        default_text="that of the readings",
        help="the first day that counts",
        label="From",
        shown="first",
        stage="cube",
        since="0.2",
    )
    last_day: str | None = _declare(
        check=_check_last_day,
        allowed="a date, such as 2013-02-28",
        metavar="DATE",
        spelling="to",
        default_text="that of the readings",
        help="the last day that counts, itself included",
        label="To",
        shown="first",
        stage="cube",
        since="0.2",
    )
    months: str | None = _declare(
        check=_check_months,
        allowed="numbers from 1 to 12 joined by commas",
        metavar="12,1,2",
        default_text="all",
        help="the months of the year that count",
        label="Months",
        shown="first",
        stage="cube",
        since="0.2",
    )
    distance: Distance = _declare(
        default="hellinger",
        unit_defaults={"profiles": "tv"},
        titles={"hellinger": "Hellinger", "tv": "Total variation", "js": "Jensen–Shannon"},
        help="how far two distributions of demand are apart",
        label="Distance",
        shown="map",
        stage="vectors",
    )
    bins: int = _declare(
        default=100,
        low=2,
        high=1000,
        help="bins of demand, each with the same share of the reference readings",
        label="Bins",
        stage="cube",
    )
    window: int = _declare(
        # The authors' code pools every slot with its two neighbours, though the text does not
        # say so.
        default=1,
        unit_defaults={"households": 0},
        low=0,
        # Half the week of 5-minute readings; the dataset's own interval sets a tighter bound.
        high=1007,
        units=("profiles", "slots", "household-slots"),
        help="slots on either side that are pooled with each slot; neighbouring slots then share "
        "readings and are drawn together",
        label="Window, slots on either side",
        stage="vectors",
    )
    reference: Reference = _declare(
        default="dataset",
        titles={"dataset": "all households", "selection": "the chosen ones"},
        help="the households whose readings the bins are made from",
        label="Bins from the readings of",
        stage="cube",
    )
    minimum_sample: int = _declare(
        default=20,
        low=1,
        high=100_000,
        help="points with fewer readings are left out: small samples look far from everything",
        label="Minimum readings",
        stage="vectors",
    )
    neighbors: str = _declare(
        default=AUTO,
        titles={AUTO: "Automatic"},
        registry="core.neighbors:BACKENDS",
        help=f"how neighbours are found; {AUTO} is exact unless that takes over a minute",
        label="Neighbours by",
        shown="map",
        stage="neighbors",
    )
    neighbors_parameters: Mapping[str, Value] = _declare(
        default=MappingProxyType({}),
        check=_check_settings,
        allowed="names with values",
        help="the parameters of the neighbour backend",
        shown="map",
        stage="neighbors",
    )
    k: int = _declare(
        default=20,
        low=1,
        high=1000,
        help="neighbours of each point",
        label="Neighbours of each point",
        shown="map",
        stage="neighbors",
    )
    method: str = _declare(
        default="isomap",
        registry="core.embedding:METHODS",
        help="how the map is drawn from the neighbours",
        label="Map by",
        shown="map",
        stage="embedding",
    )
    method_parameters: Mapping[str, Value] = _declare(
        default=MappingProxyType({}),
        check=_check_settings,
        allowed="names with values",
        help="the parameters of the method",
        shown="map",
        stage="embedding",
    )
    dim: int = _declare(
        default=2,
        low=1,
        high=100,
        help="coordinates of the map",
        label="Dimensions of the map",
        stage="embedding",
    )
    seed: int = _declare(
        default=1,
        low=0,
        high=2**32 - 1,
        help="the same seed gives the same picture",
        label="Seed",
        stage="neighbors",
    )
    quality: bool = _declare(
        default=False,
        help="measure how faithful the graph and the map are",
        label="Measure quality",
        shown="never",
    )
    n_anomalies: int = _declare(
        default=10,
        low=0,
        high=1000,
        help="how many anomalies are named",
        label="Unusual points to mark",
    )
    density: Density = _declare(
        default="plain",
        titles={
            "plain": "of the points on the map",
            "corrected": "corrected for the map's distortion",
        },
        help="which density the regions show: that of the points as the map draws them, or "
        "corrected for where it stretches and squeezes, which depends less on the method",
        label="Density",
        stage="density",
        since="0.2",
    )
    bandwidth: Bandwidth = _declare(
        default="plug-in",
        titles={"plug-in": "fitted to the map", "wide": "wide, as in the paper's figures"},
        help="how far the density is smoothed: plug-in follows clusters and arms, wide takes an "
        "eighth of the map's range",
        label="Smoothing of the density",
        stage="density",
        since="0.2",
    )
    rank_by: RankBy = _declare(
        default="density",
        titles={
            "density": "Isolated on this map",
            "isolation": "Far from all others",
            "surprise": "Unlike similar homes",
        },
        help="what makes a point anomalous: density finds what is rare on the map, isolation what "
        "has only far neighbours, surprise what its neighbours do not explain, a change in a few "
        "hours of the week included",
        label="Unusual points by",
        shown="map",
        stage="density",
    )


def read_declarations(declared: type) -> dict[str, Field]:
    """Return the declared fields of such a class by name."""
    return {
        each.name: replace(each.metadata["declared"], name=each.name) for each in fields(declared)
    }


FIELDS = read_declarations(RunFields)

UNITS = FIELDS["unit"].options
DISTANCES = FIELDS["distance"].options
