"""What the analyst chooses to make a map; no widget in it."""

from collections.abc import Mapping
from typing import Any

import param

from core.errors import InputError
from core.fields import FIELDS, Field
from core.readings import Dataset
from core.runs import RunConfig

UNIT_TITLES: Mapping[str, str] = FIELDS["unit"].titles
DISTANCE_TITLES: Mapping[str, str] = FIELDS["distance"].titles

_UNIT = FIELDS["unit"].default

# A selector has no empty choice: this one stands for a text that is not given.
_NOTHING = ""


def _suggestions(field: Field) -> dict[str, str]:
    """The values that the page offers for a text, by what they are called there."""
    nothing = {field.default_words.capitalize(): _NOTHING}
    return nothing | {title: value for value, title in field.suggestions.items()}


def _parameter(field: Field) -> param.Parameter:
    """The declared field as a Param parameter, with the same bounds and choices."""
    common: dict[str, Any] = {"label": field.label or None, "doc": field.sentence}
    if field.is_settings:
        return param.Dict(default={}, **common)
    if field.options:
        objects = {title: value for value, title in field.option_titles.items()}
        return param.Selector(default=field.default_of(_UNIT), objects=objects, **common)
    if field.suggestions:
        return param.Selector(default=_NOTHING, objects=_suggestions(field), **common)
    if field.name == "household":
        return param.Selector(default=None, objects=[None], **common)
    if field.name == "households":
        return param.List(default=None, allow_None=True, **common)
    if field.kind is str:
        return param.String(default=_NOTHING, **common)
    if field.kind is bool:
        return param.Boolean(default=field.default, **common)
    number: Any = param.Integer if field.kind is int else param.Number
    return number(default=field.default_of(_UNIT), bounds=(field.low, field.high), **common)


_Fields: Any = param.parameterized_class(
    "_Fields", {name: _parameter(field) for name, field in FIELDS.items()}, param.Parameterized
)


class Choices(_Fields):
    """The fields of a config, each with its bounds and its words for the page."""

    # What makes another run.
    CHOICES = tuple(FIELDS)

    def __init__(self, dataset: Dataset, **values: Any) -> None:
        super().__init__(**values)
        names = dataset.households["household"].tolist()
        self.param.household.objects = names
        self.household = names[0] if names else None

    @param.depends("unit", watch=True)
    def _take_default_distance(self) -> None:
        self.distance = FIELDS["distance"].default_of(self.unit)

    @param.depends("neighbors", watch=True)
    def _reset_search_settings(self) -> None:
        self.param.update(neighbors_parameters={})

    @param.depends("method", watch=True)
    def _reset_method_settings(self) -> None:
        self.param.update(method_parameters={})

    def config(self) -> RunConfig:
        """Return the config that the choices make, or say what is wrong with them."""
        if self.unit == "slots" and not self.household:
            raise InputError("choose the household whose half-hours are to be mapped")
        values: dict[str, Any] = {
            name: getattr(self, name)
            for name, field in FIELDS.items()
            if field.applies_to(self.unit)
        }
        return RunConfig(**{name: value for name, value in values.items() if value != _NOTHING})

    def take(self, config: RunConfig) -> None:
        """Make the choices of a config."""
        plain = config.to_json()
        values = {
            name: plain[name] for name, field in FIELDS.items() if field.applies_to(config.unit)
        }
        for name, field in FIELDS.items():
            if field.suggestions or isinstance(self.param[name], param.String):
                values[name] = plain[name] or _NOTHING
            if field.suggestions:
                # Besides what is offered, a text from the command line or a program.
                offered, text = _suggestions(field), values[name]
                known = text in offered.values()
                self.param[name].objects = offered if known else {**offered, text: text}
        if config.household is None:
            values.pop("household", None)
        settings = {name: values.pop(name) for name, field in FIELDS.items() if field.is_settings}
        with param.parameterized.batch_call_watchers(self):
            self.param.update(values)
        # After the watchers of unit, backend and method, which reset what depends on them.
        self.param.update(distance=config.distance, **settings)
