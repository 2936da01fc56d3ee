"""The choices that make a map. What a backend or a method can be told comes from its registry."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import panel as pn
import panel_material_ui as pmui
import param

from core.errors import InputError
from core.fields import AUTO, FIELDS, Field
from core.registry import Value
from core.runs import RunConfig
from dashboard.explore.period_picker import period_picker
from dashboard.page_schedule import on_click
from dashboard.state import Explorer
from dashboard.widgets import Disclosure, PlainText, SettingsForm, wrapped_row

_STRETCHED: dict[str, Any] = {"sizing_mode": "stretch_width", "margin": (5, 10)}
_WIDE: dict[str, Any] = {"size": "small", **_STRETCHED}

ALL, TYPICAL, ANOMALOUS, RANDOM = "All", "Ten typical", "Ten anomalous", "Ten at random"
ON_MAP, BY_NAME, BY_METADATA = "Chosen on the map", "By name", "By what is known"
_TEN = 10
_MOST_VALUES = 50


# Answers to "which map?", for all that one needs to know to ask it.
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "The paper's": {"method": "isomap", "neighbors": "exact", "bandwidth": "wide"},
    "Fast": {"method": "laplacian", "neighbors": AUTO},
    # t-SNE keeps most of the true neighbours together.
    "Most faithful": {"method": "tsne", "neighbors": "exact", "density": "corrected"},
}


def settings(explorer: Explorer) -> list[pn.viewable.Viewable]:
    """Lay out the choices in the order of a question: when, who, what; then how it is drawn."""
    first = ("households", "unit", "household")
    how = Disclosure(hint="How the map is made: presets, method, distance, neighbours")
    more = Disclosure("Seldom changed")

    def summarise(*_: param.parameterized.Event) -> None:
        try:
            how.text = f"Map: {map_summary(explorer.config())}"
        except InputError:  # said where the run is
            how.text = "Map"

    def fields(shown: str) -> list[pn.viewable.Viewable]:
        return [field_widget(explorer, field) for field in FIELDS.values() if field.shown == shown]

    explorer.param.watch(summarise, list(Explorer.CHOICES))
    summarise()
    return [
        period_picker(explorer),
        *(field_widget(explorer, FIELDS[name]) for name in first),
        how,
        how.part(
            lambda: [presets(explorer), *fields("map"), more, more.part(lambda: fields("more"))]
        ),
    ]


def map_summary(config: RunConfig) -> str:
    """How a map is made, in a line."""

    def title(name: str) -> str:
        return FIELDS[name].option_titles[getattr(config, name)]

    distance = title("distance")
    distance = distance.lower() if config.distance == "tv" else distance  # the others are names
    parts = [title("method"), distance, f"{config.k:,} neighbours"]
    if config.neighbors not in (AUTO, "exact"):
        parts.append(title("neighbors"))
    return " · ".join(parts)


def presets(explorer: Explorer) -> pn.viewable.Viewable:
    """Buttons that make all choices of how a map is drawn at once."""

    def take(changes: Mapping[str, Any]) -> None:
        # What a preset does not name has its default; what is mapped stays.
        drawing = {
            name: field.default_of(explorer.unit)
            for name, field in FIELDS.items()
            if field.stage in ("neighbors", "embedding", "density") and not field.is_settings
        }
        distance = FIELDS["distance"].default_of(explorer.unit)
        explorer.param.update(distance=distance, **{**drawing, **changes})

    def button(name: str, changes: Mapping[str, Any]) -> pmui.Button:
        made = pmui.Button(label=name, variant="outlined", size="small", margin=(4, 2))
        on_click(made, lambda: take(changes))
        return made

    buttons = [button(name, changes) for name, changes in PRESETS.items()]
    return wrapped_row(*buttons, margin=(0, 8))


def field_widget(explorer: Explorer, field: Field) -> pn.viewable.Viewable:
    """The widget of a field, seen where the field applies to the chosen unit."""
    if field.is_settings:
        choice = field.name.removesuffix("_parameters")
        return settings_of(explorer, choice, FIELDS[choice].entries)
    if field.name == "households":
        return HouseholdPicker(explorer).panel
    parameter = explorer.param[field.name]
    options = dict(_WIDE)
    if field.units:
        options["visible"] = explorer.param.unit.rx().rx.pipe(field.applies_to)
    if field.name == "household":
        return pmui.AutocompleteInput.from_param(
            parameter, min_characters=0, restrict=True, **options
        )
    return _WIDGETS[type(parameter)].from_param(parameter, **options)


_WIDGETS: dict[type, Any] = {
    param.Selector: pmui.Select,
    param.Integer: pmui.IntInput,
    param.Number: pmui.FloatInput,
    param.Boolean: pmui.Checkbox,
    param.String: pmui.TextInput,
}


def settings_of(explorer: Explorer, name: str, entries: Mapping[str, Any]) -> SettingsForm:
    """The parameters of the chosen backend or method, and no others."""
    values = f"{name}_parameters"

    def change(settings: dict[str, Value]) -> None:
        setattr(explorer, values, {**getattr(explorer, values), **settings})

    form = SettingsForm(change, sizing_mode="stretch_width", margin=(2, 10, 4, 22))

    def show(*_: param.parameterized.Event) -> None:
        chosen = getattr(explorer, name)
        settings = entries[chosen].parameters if chosen in entries else ()
        form.ask_for(settings, getattr(explorer, values))

    explorer.param.watch(show, [name, values])
    show()
    return form


class HouseholdPicker:
    """Which households are mapped."""

    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer
        known = [ALL, TYPICAL, ANOMALOUS, RANDOM, ON_MAP, BY_NAME]
        self.mode = pmui.Select(
            label="Households",
            options=[*known, *([BY_METADATA] if self._columns() else [])],
            value=ALL,
            description="Which households are mapped",
            **_WIDE,
        )
        self._fields = pn.Column(sizing_mode="stretch_width", margin=0)
        self.note = PlainText(look="quiet", margin=(0, 12), sizing_mode="stretch_width")
        self.panel = pn.Column(
            self.mode,
            self._fields,
            self.note,
            sizing_mode="stretch_width",
            margin=0,
            visible=explorer.param.unit.rx() != "slots",
        )
        self.mode.param.watch(lambda _: self._choose(), "value")
        explorer.param.watch(lambda _: self._tell(), "households")
        self._tell()

    def _columns(self) -> list[str]:
        return [str(name) for name in self.explorer.dataset.metadata.columns]

    # Fields are made when they are first needed: most analysts map all households.

    @cached_property
    def names(self) -> pmui.MultiChoice:
        """Households by name."""
        ids = self.explorer.dataset.households["household"].tolist()
        field = pmui.MultiChoice(label="Type to search", options=ids, **_STRETCHED)
        field.param.watch(lambda _: self._use(list(field.value or [])), "value")
        return field

    @cached_property
    def column(self) -> pmui.Select:
        """What is known of households."""
        field = pmui.Select(label="Column", options=self._columns(), **_WIDE)
        field.param.watch(lambda _: self._offer_values(), "value")
        return field

    @cached_property
    def values(self) -> pmui.MultiChoice:
        """Which values of it."""
        field = pmui.MultiChoice(label="Values", **_STRETCHED)
        field.param.watch(lambda _: self._use(self._having_values()), "value")
        return field

    @cached_property
    def range(self) -> pmui.EditableRangeSlider:
        """Between which numbers."""
        field = pmui.EditableRangeSlider(label="From, to", **_WIDE)
        field.param.watch(lambda _: self._use(self._within_range()), "value_throttled")
        return field

    def _choose(self) -> None:
        mode, explorer = self.mode.value, self.explorer
        self._fields.objects = [self.names] if mode == BY_NAME else []
        if mode == ALL:
            explorer.households = None
        elif mode == BY_METADATA:
            self._offer_values()
        elif mode != BY_NAME and explorer.run is not None:
            self._use(self._of_map(mode))

    def _of_map(self, mode: str) -> list[str]:
        run = self.explorer.run
        ids = run.units["household"]
        if mode == ON_MAP:
            return ids.iloc[self.explorer.chosen].unique().tolist()
        if mode == RANDOM:
            everyone = self.explorer.dataset.households["household"].to_numpy()
            drawn = np.random.default_rng().permutation(everyone)[:_TEN]
            return [str(name) for name in drawn]
        order = np.argsort(run.hdr.rank)
        order = order[::-1] if mode == TYPICAL else order
        return ids.iloc[order].drop_duplicates().head(_TEN).tolist()

    def _offer_values(self) -> None:
        column = self.explorer.dataset.metadata[self.column.value]
        numbers = column.dtype.kind in "iuf" and column.nunique() > 1
        self._fields.objects = [self.column, self.range if numbers else self.values]
        if numbers:
            low, high = float(column.min()), float(column.max())
            self.range.param.update(start=low, end=high, value=(low, high))
        else:
            values = column.dropna().astype(str).value_counts().index[:_MOST_VALUES]
            self.values.param.update(options=sorted(values), value=[])

    def _having_values(self) -> list[str]:
        column = self.explorer.dataset.metadata[self.column.value].astype(str)
        return self._ids(column.isin(self.values.value).to_numpy())

    def _within_range(self) -> list[str]:
        low, high = self.range.value
        column = self.explorer.dataset.metadata[self.column.value]
        return self._ids(column.between(low, high).to_numpy(bool, na_value=False))

    def _ids(self, wanted: np.ndarray) -> list[str]:
        names: list[str] = self.explorer.dataset.households["household"][wanted].tolist()
        return names

    def _use(self, names: list[str]) -> None:
        if names:
            self.explorer.households = sorted(names)
        else:
            hint = " (draw a box or a lasso on the map first)" if self.mode.value == ON_MAP else ""
            self.note.text = f"None is chosen yet{hint}; the map is as before."

    def _tell(self) -> None:
        total = len(self.explorer.dataset.households)
        chosen = self.explorer.households
        self.note.text = f"all {total:,}" if chosen is None else f"{len(chosen):,} of {total:,}"
        if chosen is None and self.mode.value != ALL:
            self.mode.value = ALL
        elif chosen is not None and self.mode.value == ALL:
            # Not chosen here, but by undo or a link.
            self.names.value = list(chosen)
            self.mode.value = BY_NAME
