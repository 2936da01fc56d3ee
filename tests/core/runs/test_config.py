"""The config of a run: its checks, and its forms that give the same config back."""

import base64
import json
import pickle
import re
import zlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.commands._run_flags import read_households
from core.embedding import METHODS
from core.errors import InputError
from core.neighbors import BACKENDS
from core.registry import Parameter
from core.runs import RunConfig
from core.runs.config import VERSION
from core.runs.reproduce import join_ids, split_ids
from core.tokens import MAX_TOKEN

IDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)


def value_of(parameter: Parameter):
    """Any value a parameter allows."""
    if parameter.choices:
        return st.sampled_from(parameter.choices)
    if parameter.kind is bool:
        return st.booleans()
    low = parameter.low if parameter.low is not None else -1e6
    high = parameter.high if parameter.high is not None else 1e6
    if parameter.kind is int:
        return st.integers(int(low), int(high))
    return st.floats(low, high)


@st.composite
def configs(draw):
    """Any config."""
    unit = draw(st.sampled_from(["profiles", "slots", "households", "household-slots"]))
    fields = {"unit": unit}
    if unit == "slots":
        fields["household"] = draw(IDS)
    elif draw(st.booleans()):
        fields["households"] = tuple(draw(st.lists(IDS, min_size=1, max_size=5)))
    if unit != "households":
        fields["window"] = draw(st.integers(0, 3))
    fields["slots"] = draw(st.sampled_from([None, "weekdays", "Mon18:00-20:00,Tue"]))
    fields["bins"] = draw(st.integers(2, 1000))
    fields["reference"] = draw(st.sampled_from(["dataset", "selection"]))
    for field, registry in (("neighbors", BACKENDS), ("method", METHODS)):
        name = draw(st.sampled_from([name for name in registry if name != "auto"]))
        fields[field] = name
        fields[f"{field}_parameters"] = {
            parameter.name: draw(value_of(parameter))
            for parameter in registry[name].parameters
            if draw(st.booleans())
        }
    fields["distance"] = draw(st.sampled_from(BACKENDS[fields["neighbors"]].distances))
    fields["k"] = draw(st.integers(1, 1000))
    fields["seed"] = draw(st.integers(0, 2**32 - 1))
    fields["quality"] = draw(st.booleans())
    fields["rank_by"] = draw(st.sampled_from(["density", "isolation", "surprise"]))
    fields["density"] = draw(st.sampled_from(["plain", "corrected"]))
    fields["bandwidth"] = draw(st.sampled_from(["plug-in", "wide"]))
    return RunConfig(**fields)


@given(configs())
def test_json_token_pickle_and_changed_fields_give_the_config_back(config):
    assert RunConfig.from_json(json.loads(json.dumps(config.to_json()))) == config
    token = config.to_token()
    assert re.fullmatch(r"[\w-]+", token, re.ASCII)
    assert RunConfig.from_token(token) == config
    assert pickle.loads(pickle.dumps(config)) == config  # noqa: S301 (our own bytes)
    assert RunConfig.from_json({"version": VERSION, **config.changed_fields()}) == config
    assert hash(RunConfig.from_token(token)) == hash(config)


def test_defaults_are_the_papers():
    config = RunConfig()
    assert (config.unit, config.distance, config.method, config.k) == (
        "profiles",
        "tv",
        "isomap",
        20,
    )
    assert (config.bins, config.window, config.neighbors, config.dim) == (100, 1, "auto", 2)
    assert config.changed_fields() == {}
    others = [RunConfig(unit=unit) for unit in ("slots", "households", "household-slots")]
    assert [other.distance for other in others] == ["hellinger"] * 3
    assert [other.window for other in others] == [1, 0, 1]


def test_a_density_is_corrected_for_maps_of_few_axes():
    assert RunConfig(density="corrected", dim=10).density == "corrected"
    with pytest.raises(InputError, match="11 axes cannot be corrected; choose dim up to 10"):
        RunConfig(density="corrected", dim=11)


def test_equal_choices_are_equal_configs():
    assert RunConfig(households=("b", "a", "b")) == RunConfig(households=["a", "b"])
    assert RunConfig(k=20.0) == RunConfig()
    assert RunConfig(method="tsne", method_parameters={"perplexity": 30}) == RunConfig(
        method="tsne"
    )


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"unit": "streets"}, ["unit", "profiles, slots", "'streets'"]),
        ({"distance": "l2"}, ["distance", "hellinger, tv, js", "'l2'"]),
        ({"bins": 1}, ["bins", "2 to 1000", "got 1"]),
        ({"bins": 10**400}, ["bins", "2 to 1000"]),
        ({"k": 0}, ["k must be", "1 to 1000", "got 0"]),
        ({"k": float("nan")}, ["k must be", "nan"]),
        ({"k": True}, ["k must be", "True"]),
        ({"window": -1}, ["window", "from 0", "-1"]),
        ({"window": 1, "unit": "households"}, ["households", "no window", "1"]),
        ({"dim": 101}, ["dim", "1 to 100", "101"]),
        ({"seed": -1}, ["seed", "from 0", "-1"]),
        ({"quality": "yes"}, ["quality", "true or false", "'yes'"]),
        ({"n_anomalies": 1001}, ["n_anomalies", "0 to 1000", "1001"]),
        ({"neighbors": "magic"}, ["neighbors", "auto, exact", "'magic'"]),
        ({"neighbors": ["exact"]}, ["neighbors", "['exact']"]),
        ({"method": "pca"}, ["method", "isomap, lle", "'pca'"]),
        ({"method_parameters": {"perplexity": 3}}, ["'isomap'", "perplexity", "landmarks"]),
        ({"method": "tsne", "method_parameters": {"perplexity": 0}}, ["perplexity", "1 to", "0"]),
        ({"method_parameters": [1]}, ["method_parameters", "[1]"]),
        ({"neighbors_parameters": {"epsilon": 1}}, ["auto", "epsilon"]),
        ({"household": "a"}, ["household 'a'", "profiles", "unit slots"]),
        ({"unit": "slots", "household": "a", "households": ("b",)}, ["not both"]),
        ({"households": "abc"}, ["households", "'abc'"]),
        ({"households": ()}, ["households", "1 to"]),
        ({"households": (1,)}, ["households", "1"]),
        ({"households": ("\ud800",)}, ["households"]),
        ({"slots": "Montag"}, ["Montag"]),
        ({"slots": ""}, ["slots"]),
        ({"rank_by": "age"}, ["rank_by", "density, isolation", "'age'"]),
    ],
)
def test_a_wrong_field_is_told_with_its_value_and_bounds(fields, words):
    with pytest.raises(InputError) as caught:
        RunConfig(**fields)
    for word in words:
        assert word in str(caught.value)


def test_js_goes_only_with_backends_that_can():
    assert RunConfig(distance="js", neighbors="exact").distance == "js"
    assert RunConfig(distance="js").neighbors == "auto"
    unable = [name for name in BACKENDS if "js" not in BACKENDS[name].distances]
    for name in unable:
        with pytest.raises(InputError, match=r"js.*exact"):
            RunConfig(distance="js", neighbors=name)


def test_a_change_of_choice_takes_its_own_settings_along():
    config = RunConfig(
        unit="slots", household="a", window=3, method="tsne", method_parameters={"perplexity": 5}
    )
    assert config.change(k=5).method_parameters["perplexity"] == 5
    assert dict(config.change(method="isomap").method_parameters) == {"landmarks": 0}
    other = config.change(unit="profiles")
    assert (other.household, other.window, other.distance) == (None, 1, "tv")
    assert other.method == "tsne"
    assert config.change(unit="household-slots", window=2).window == 2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({}, "version None"),
        ({"version": VERSION + 1}, f"version {VERSION + 1}"),
        ({"version": 0}, "version 0"),
        ({"version": VERSION, "colour": "red"}, "no field 'colour'"),
        ([], "JSON object"),
        ({"version": VERSION, "households": 5}, "households"),
    ],
)
def test_json_that_cannot_be_read_says_why(content, words):
    with pytest.raises(InputError, match=words):
        RunConfig.from_json(content)


def pack(plain: bytes) -> str:
    """A token of any content."""
    return f"{VERSION}-" + base64.urlsafe_b64encode(zlib.compress(plain)).decode().rstrip("=")


@pytest.mark.parametrize(
    "token",
    [
        "",
        "2-abc",
        f"{VERSION}-",
        f"{VERSION}-!!!",
        pack(b"[]"),
        pack(b"{"),
        pack(b'{"version": 1}'),
        pack(b'{"k": 0}'),
        pack(b'{"k": ' + b"9" * 4000 + b"}"),
        pack(b'{"k": 1e999}'),
        pack(b"[" * 200_000),
        pack(b" " * 50_000_000),
        pack(b"\xff"),
        "1-" + "A" * MAX_TOKEN,
        RunConfig(k=7).to_token()[:-4],
    ],
    ids=range(15),
)
def test_a_token_that_is_none_is_refused(token):
    with pytest.raises(InputError):
        RunConfig.from_token(token)


@given(st.text(max_size=200))
def test_any_text_is_a_config_or_an_input_error(text):
    for token in (text, f"{VERSION}-{text}"):
        try:
            RunConfig.from_token(token)
        except InputError:
            continue


def test_a_token_of_many_households_is_still_short():
    config = RunConfig(households=tuple(str(1000 + i) for i in range(3639)))
    assert len(RunConfig().to_token()) < 20
    assert len(config.to_token()) < 16_000
    assert RunConfig.from_token(config.to_token()) == config


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(IDS.filter(lambda name: name == name.strip()), min_size=1, max_size=6))
def test_joined_ids_split_into_the_same(ids):
    assert split_ids(join_ids(ids)) == ids
    assert not join_ids(ids).startswith("@")


def test_ids_from_a_file(tmp_path):
    file = tmp_path / "ids.txt"
    file.write_text("\ufeff1001\n1002, 1003\n\n", encoding="utf-8")
    assert read_households(f"@{file}") == ("1001", "1002", "1003")
    with pytest.raises(InputError, match=r"none\.txt.*No such file"):
        read_households(f"@{tmp_path}/none.txt")
    with pytest.raises(InputError, match="names no household"):
        read_households(" , ")
