"""What the analyst chooses to make a map; no widget in it."""

from typing import Any

import param

from core.embedding import METHODS
from core.errors import InputError
from core.neighbors import BACKENDS
from core.readings import Dataset
from core.registry import Registry
from core.runs import RunConfig
from core.runs.config import AUTO, SEED, K, default_distance
from core.units import DEFAULT_WINDOW, MINIMUM_SAMPLE, UNITS

UNIT_TITLES = {
    "profiles": "a household's whole week",
    "households": "a household, pooled",
    "slots": "a half-hour of one household",
    "household-slots": "a half-hour of any household",
}
DISTANCE_TITLES = {"tv": "Total variation", "hellinger": "Hellinger", "js": "Jensen–Shannon"}
SLOT_CHOICES = {
    "The whole week": "",
    "Weekdays": "weekdays",
    "Weekend": "weekend",
    "Evenings": "evenings",
}


def _titles(registry: Registry[Any]) -> dict[str, str]:
    return {entry.title: name for name, entry in registry.items()}


class Choices(param.Parameterized):
    """The fields of a config, with their names, bounds and help for the page."""

    unit: Any = param.Selector(
        default="profiles",
        objects={UNIT_TITLES[unit]: unit for unit in UNITS},
        label="A point is",
        doc="What one point on the map stands for",
    )
    household: Any = param.Selector(
        default=None, objects=[None], doc="Whose half-hours are mapped; type to search"
    )
    households: Any = param.List(
        default=None, allow_None=True, doc="The households to map; all if there is no list"
    )
    slots: Any = param.Selector(
        default="", objects=SLOT_CHOICES, label="Times of the week", doc="Which readings count"
    )
    distance: Any = param.Selector(
        default="tv",
        objects={title: name for name, title in DISTANCE_TITLES.items()},
        doc="How far two distributions of demand are apart",
    )
    bins: Any = param.Integer(
        default=100, bounds=(2, 1000), doc="Bins of demand, each with as many reference readings"
    )
    window: Any = param.Integer(
        default=DEFAULT_WINDOW,
        bounds=(0, 24),
        label="Window, slots on either side",
        doc="A half-hour's sample takes in so many half-hours before and after it",
    )
    minimum_sample: Any = param.Integer(
        default=int(MINIMUM_SAMPLE.default),
        bounds=(1, 10_000),
        label="Least readings of a point",
        doc="Points with fewer readings are left out: small samples look far from everything",
    )
    reference: Any = param.Selector(
        default="dataset",
        objects={"all households": "dataset", "the chosen ones": "selection"},
        label="Bins from the readings of",
        doc="Whose readings the bins are made of",
    )
    neighbors: Any = param.Selector(
        default=AUTO,
        objects={"Automatic": AUTO, **_titles(BACKENDS)},
        label="Neighbours by",
        doc="How nearest neighbours are found; automatic is exact unless that takes over a minute",
    )
    neighbors_parameters: Any = param.Dict(default={}, doc="Settings of the neighbour search")
    k: Any = param.Integer(
        default=int(K.default),
        bounds=(2, 100),
        label="Neighbours of each point",
        doc="K of the graph",
    )
    method: Any = param.Selector(
        default="isomap",
        objects=_titles(METHODS),
        label="Map by",
        doc="How the map is drawn from the neighbours",
    )
    method_parameters: Any = param.Dict(default={}, doc="Settings of the method")
    rank_by: Any = param.Selector(
        default="density",
        objects={
            "Low density on the map": "density",
            "Distance to neighbours": "isolation",
            "Surprise, given neighbours": "surprise",
        },
        label="Anomalies by",
        doc="What makes a point anomalous. Density sees what is rare; surprise sees what its "
        "neighbours do not explain, a change in a few hours of the week included",
    )
    n_anomalies: Any = param.Integer(
        default=10, bounds=(1, 100), label="Anomalies to name", doc="How many are listed"
    )
    seed: Any = param.Integer(
        default=int(SEED.default), bounds=(0, 2**32 - 1), doc="Same seed, same picture"
    )

    # What makes another run.
    CHOICES = (
        *("unit", "household", "households", "slots", "distance", "bins", "window"),
        *("minimum_sample", "reference"),
        *("neighbors", "neighbors_parameters", "k", "method", "method_parameters"),
        *("rank_by", "n_anomalies", "seed"),
    )

    def __init__(self, dataset: Dataset, **values: Any) -> None:
        super().__init__(**values)
        names = dataset.households["household"].tolist()
        self.param.household.objects = names
        self.household = names[0] if names else None

    @param.depends("unit", watch=True)
    def _take_what_the_unit_suggests(self) -> None:
        self.param.update(distance=default_distance(self.unit))

    @param.depends("neighbors", watch=True)
    def _forget_the_search_settings(self) -> None:
        self.neighbors_parameters = {}

    @param.depends("method", watch=True)
    def _forget_the_method_settings(self) -> None:
        self.method_parameters = {}

    def config(self) -> RunConfig:
        """Return the config that the choices make, or say what is wrong with them."""
        one = self.unit == "slots"
        if one and not self.household:
            raise InputError("choose the household whose half-hours are to be mapped")
        return RunConfig(
            unit=self.unit,
            household=self.household if one else None,
            households=None if one or self.households is None else tuple(self.households),
            slots=self.slots or None,
            distance=self.distance,
            bins=self.bins,
            window=0 if self.unit == "households" else self.window,
            minimum_sample=self.minimum_sample,
            reference=self.reference,
            neighbors=self.neighbors,
            neighbors_parameters=self.neighbors_parameters,
            k=self.k,
            method=self.method,
            method_parameters=self.method_parameters,
            rank_by=self.rank_by,
            n_anomalies=self.n_anomalies,
            seed=self.seed,
        )

    def take(self, config: RunConfig) -> None:
        """Make the choices of a config."""
        plain = config.to_json()
        values = {name: plain[name] for name in self.CHOICES if name in plain}
        values["slots"] = config.slots or ""
        if config.slots not in (None, *SLOT_CHOICES.values()):
            # Times that no list could offer, from the command line or a program.
            self.param.slots.objects = {**SLOT_CHOICES, config.slots: config.slots}
        if config.household is None:
            values.pop("household")
        if config.unit == "households":
            values.pop("window")
        settings = {name: values.pop(name) for name in list(values) if name.endswith("_parameters")}
        with param.parameterized.batch_call_watchers(self):
            self.param.update(values)
        # After the watchers of backend and method, which forget settings.
        self.param.update(distance=config.distance, **settings)
