"""One declaration of bounds: command line, config, link, session file and page agree."""

import argparse
import json
from collections.abc import Callable
from contextlib import suppress

import pytest

from core import tokens
from core.commands._run_flags import add_choices, read_config
from core.embedding import METHODS
from core.errors import InputError
from core.fields import FIELDS
from core.neighbors import BACKENDS
from core.readings import Dataset
from core.registry import Parameter
from core.runs import RunConfig, run
from dashboard.state import Explorer, ViewState
from dashboard.state.session_file import read_session, write_session
from dashboard.widgets._settings_form import SettingsForm

NUMBERS = [name for name, field in FIELDS.items() if field.low is not None]
SETTINGS = [
    pytest.param(field, choice, setting, id=f"{choice}-{setting.name}")
    for field, registry in (("neighbors", BACKENDS), ("method", METHODS))
    for choice, entry in registry.items()
    for setting in entry.parameters
    if setting.low is not None or setting.high is not None
]


def values_at_the_bounds(parameter: Parameter) -> list[tuple[float, bool]]:
    """Values at and beyond the bounds, and whether they are allowed."""
    step = 1 if parameter.kind is int else 1e-6
    found: list[tuple[float, bool]] = []
    for bound, outwards in ((parameter.low, -step), (parameter.high, step)):
        if bound is not None:
            bound = parameter.kind(bound)
            found += [(bound, True), (bound + outwards * max(1, abs(bound)), False)]
    return found


def is_taken(way: Callable[[], object]) -> bool:
    """Whether a way in takes a value; a refusal is a sentence, never another error."""
    try:
        way()
    except InputError as error:
        assert len(str(error)) > 20
        return False
    except (ValueError, SystemExit):  # of Param and argparse, which speak for themselves
        return False
    return True


def from_flags(*flags: str) -> RunConfig:
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_choices(parser)
    return read_config(parser.parse_args(flags))


@pytest.fixture(scope="module")
def dataset(demo_path):
    return Dataset.open(demo_path)


def ways_in(dataset: Dataset, changes: dict) -> dict[str, Callable[[], RunConfig]]:
    """Every way in which files and links bring a config."""
    plain = {**RunConfig().to_json(), **changes}
    link = {"data": dataset.digest[:12], "config": changes}
    session = json.loads(write_session(ViewState(config=RunConfig()), {}, dataset))
    session["scene"]["config"] = plain
    return {
        "config": lambda: RunConfig(**changes),
        "json": lambda: RunConfig.from_json(plain),
        "token": lambda: RunConfig.from_token(tokens.pack(changes, version=1)),
        "link": lambda: ViewState.from_token(tokens.pack(link, version=1), dataset).config,
        "session": lambda: read_session(json.dumps(session).encode(), dataset).view.config,
    }


@pytest.mark.parametrize("name", NUMBERS)
def test_every_way_in_has_the_same_bounds(dataset, name):
    field = FIELDS[name]
    assert Explorer(dataset).param[name].bounds == (field.low, field.high)

    def on_the_page(value: float) -> RunConfig:
        explorer = Explorer(dataset)
        setattr(explorer, name, value)
        return explorer.config()

    for value, allowed in values_at_the_bounds(field):
        ways = ways_in(dataset, {name: value})
        ways["flags"] = lambda value=value: from_flags(f"{field.flag}={value}")
        ways["page"] = lambda value=value: on_the_page(value)
        for way, take in ways.items():
            assert is_taken(take) == allowed, (way, value)
            if allowed:
                assert getattr(take(), name) == value, way
                # What one way takes, the page can show.
                explorer = Explorer(dataset)
                explorer.take(take())
                assert explorer.config() == take()


@pytest.mark.parametrize(("field", "choice", "setting"), SETTINGS)
def test_settings_of_backends_and_methods_as_well(dataset, field, choice, setting):
    for value, allowed in values_at_the_bounds(setting):
        # A distance that all backends know.
        parameters = {f"{field}_parameters": {setting.name: value}}
        changes = {"distance": "hellinger", field: choice, **parameters}
        ways = ways_in(dataset, changes)
        ways["flags"] = lambda value=value: from_flags(
            "--distance=hellinger", FIELDS[field].flag, choice, f"{setting.flag}={value}"
        )
        for way, take in ways.items():
            assert is_taken(take) == allowed, (way, value)
        # The form of the page: a field with these bounds, which are kept on the server as well.
        seen: list[dict] = []
        form = SettingsForm(seen.append)
        form.ask_for([setting], {})
        (shown,) = form.fields
        assert (shown["low"], shown["high"]) == (setting.low, setting.high)
        if value != setting.default:
            form.values = {setting.name: value}
            assert seen == ([{setting.name: value}] if allowed else [])


@pytest.mark.parametrize("name", NUMBERS)
def test_a_config_at_a_bound_is_run_or_refused_with_a_sentence(dataset, name):
    for value, allowed in values_at_the_bounds(FIELDS[name]):
        if allowed:
            with suppress(InputError):
                assert run(dataset, RunConfig(**{name: value})).n > 0
