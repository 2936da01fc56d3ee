import pytest

from core.embedding import METHODS
from core.neighbors import BACKENDS
from core.readings import Dataset
from core.registry import Parameter
from dashboard.explore.settings_panel import settings_of
from dashboard.state import Explorer
from dashboard.widgets import SettingsForm

SETTINGS = (
    Parameter(name="ef_search", default=50, help="how wide", low=1, high=100, unit="points"),
    Parameter(name="sigma", default=0.5, help="how far", low=0.0),
    Parameter(name="weights", default="unit", help="what for", choices=("unit", "heat")),
    Parameter(name="repeatable", default=False, help="the same again"),
)


@pytest.fixture
def told() -> list[dict[str, object]]:
    return []


@pytest.fixture
def form(told) -> SettingsForm:
    form = SettingsForm(told.append)
    form.ask_for(SETTINGS, {"sigma": 2.0})
    return form


def test_fields_say_what_they_are(form):
    assert form.fields[0] == {
        "name": "ef_search",
        "label": "Ef search, points",
        "help": "how wide",
        "kind": "int",
        "choices": [],
        "low": 1,
        "high": 100,
    }
    assert [field["kind"] for field in form.fields] == ["int", "float", "str", "bool"]
    assert form.values == {"ef_search": 50, "sigma": 2.0, "weights": "unit", "repeatable": False}


def test_what_has_no_settings_takes_no_room(form):
    form.ask_for((), {})
    assert not form.visible
    form.ask_for(SETTINGS, {})
    assert form.visible


def send(form: SettingsForm, **values: object) -> None:
    """Change values as the page does: all of them are sent, those that are as before, too."""
    form.values = {**form.values, **values}


@pytest.mark.parametrize(
    ("name", "sent", "value"),
    [
        ("ef_search", 7, 7),
        ("sigma", 3, 3.0),
        ("weights", "heat", "heat"),
        ("repeatable", True, True),
    ],
)
def test_a_change_is_told(form, told, name, sent, value):
    send(form, **{name: sent})
    assert told == [{name: value}]
    assert type(told[0][name]) is type(value)


def test_what_was_changed_together_is_told_together(form, told):
    send(form, ef_search=7, weights="heat")
    assert told == [{"ef_search": 7, "weights": "heat"}]


WILD = [
    {"ef_search": 101},
    {"ef_search": 1.5},
    {"ef_search": "7"},
    {"ef_search": None},
    {"ef_search": float("nan")},
    {"sigma": 10**400},
    {"weights": []},
    {"repeatable": 1},
    {"other": 1},
]


@pytest.mark.parametrize("wild", WILD)
def test_what_no_field_lets_through_is_not_told_and_goes_back(form, told, wild):
    before = dict(form.values)
    send(form, **wild)
    assert told == []
    assert form.values == before


def test_what_is_sent_for_the_choice_before_is_not_told(form, told):
    """The page may not know yet that something else was chosen."""
    form.ask_for(SETTINGS[:1], {})
    form.values = {"sigma": 3.0, "weights": "heat"}
    assert told == []
    assert form.values == {"ef_search": 50}


@pytest.fixture
def explorer(demo_path) -> Explorer:
    return Explorer(Dataset.open(demo_path))


def names(form: SettingsForm) -> list[str]:
    return [field["name"] for field in form.fields]


def test_the_form_has_the_settings_of_what_is_chosen(explorer):
    form = settings_of(explorer, "method", METHODS)
    for method in METHODS:
        explorer.method = method
        assert names(form) == [setting.name for setting in METHODS[method].parameters]


def test_what_is_chosen_automatically_has_no_settings(explorer):
    form = settings_of(explorer, "neighbors", BACKENDS)
    assert names(form) == []
    explorer.neighbors = "hnsw"
    assert names(form) == [setting.name for setting in BACKENDS["hnsw"].parameters]


def test_a_change_in_the_form_is_a_choice(explorer):
    explorer.method = "umap"
    form = settings_of(explorer, "method", METHODS)
    send(form, min_dist=0.3)
    assert explorer.method_parameters == {"min_dist": 0.3}
    assert form.values["min_dist"] == 0.3
    assert explorer.config().method_parameters["min_dist"] == 0.3


def test_choices_made_together_are_kept_together(explorer):
    explorer.method = "umap"
    form = settings_of(explorer, "method", METHODS)
    send(form, min_dist=0.3, epochs=12)
    assert explorer.method_parameters == {"min_dist": 0.3, "epochs": 12}


def test_the_form_follows_what_is_chosen_elsewhere(explorer):
    explorer.method = "umap"
    form = settings_of(explorer, "method", METHODS)
    explorer.method_parameters = {"epochs": 12}
    assert form.values["epochs"] == 12
    explorer.method_parameters = {}
    assert form.values["epochs"] == METHODS["umap"].parameters[1].default
