"""The fields of a run: declared once, and the same wherever they are read."""

import argparse
import subprocess
import sys
from pathlib import Path

import pytest

from core.commands._run_flags import add_choices, read_config
from core.errors import InputError
from core.fields import FIELDS, UNITS
from core.runs import RunConfig

ROOT = Path(__file__).parents[2]

# A declaration as somebody would write it, put into the source of `core.fields` and nothing else.
ANOTHER = """    blur: float = _declare(
        default=1.0,
        low=0.5,
        high=4.0,
        help="how much wider the bandwidth is",
        label="Blur of the map",
        stage="density",
        since="0.2",
    )


def read_declarations("""

EVERY_READER = """
import argparse, json, sys, types
from pathlib import Path

import core
root = Path(core.__file__).parents[1]
source = (root / "core" / "fields.py").read_text(encoding="utf-8")
assert source.count("\\n\\ndef read_declarations(") == 1
module = types.ModuleType("core.fields")
sys.modules["core.fields"] = core.fields = module
exec(source.replace("\\n\\ndef read_declarations(", ANOTHER), vars(module))

from core.commands._run_flags import add_choices, read_config
from core.errors import InputError
from core.runs import RunConfig
from core.runs.digests import Digests

plain, blurred = RunConfig(), RunConfig(blur=2)
assert (plain.blur, blurred.blur) == (1.0, 2.0)
assert plain.changed_fields() == {} and blurred.changed_fields() == {"blur": 2.0}
assert RunConfig.from_json(json.loads(json.dumps(blurred.to_json()))) == blurred
assert RunConfig.from_token(blurred.to_token()) == blurred
old = {name: value for name, value in plain.to_json().items() if name != "blur"}
assert RunConfig.from_json(old) == plain
try:
    RunConfig(blur=9)
except InputError as error:
    assert "blur must be a number from 0.5 to 4, got 9" in str(error)
else:
    raise AssertionError("no bound was met")

parser = argparse.ArgumentParser()
add_choices(parser)
assert "how much wider the bandwidth is (default 1)" in " ".join(parser.format_help().split())
assert read_config(parser.parse_args(["--blur", "2"])) == blurred

data = types.SimpleNamespace(digest="0" * 32, households=[], interval_minutes=30)
before, after = Digests(data, plain), Digests(data, blurred)
assert before.vectors == after.vectors and before.cube == after.cube
assert before.density("map") != after.density("map")
assert before.density("y") == "800a5aefd69dae46b7355868bc5300ed"  # as version 0.1 had it

import pandas as pd
from dashboard.explore.settings_panel import field_widget
from dashboard.state import Explorer

households = pd.DataFrame({"household": ["a", "b"]})
data.households, data.metadata = households, pd.DataFrame()
explorer = Explorer(data)
assert explorer.param.blur.bounds == (0.5, 4.0)
explorer.take(blurred)
assert explorer.config() == blurred
assert field_widget(explorer, module.FIELDS["blur"]).label == "Blur of the map"

sys.path.insert(0, str(root / "docs"))
import make_reference
assert "| `blur` | Blur of the map | `--blur` | 1 | a number from 0.5 to 4 |" in (
    make_reference.pages()["fields"]
)
print("every reader knows it")
"""


def test_a_new_field_is_one_declaration():
    script = f"ANOTHER = {chr(10) + chr(10) + ANOTHER!r}\n{EVERY_READER}"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.stdout.strip() == "every reader knows it", done.stderr


def test_the_flags_are_the_fields():
    parser = argparse.ArgumentParser()
    add_choices(parser)
    flags = {action.dest: action for action in parser._actions}
    for name, field in FIELDS.items():
        assert (name in flags) != field.is_settings
    assert read_config(parser.parse_args([])) == RunConfig()


def test_an_allowed_number_is_allowed_by_the_config():
    numbers = [field for field in FIELDS.values() if field.kind is int]
    assert {"k", "window", "n_anomalies", "dim", "bins", "seed"} <= {each.name for each in numbers}
    for field in numbers:
        for value in (field.low, field.high):
            if value is not None:
                assert getattr(RunConfig(**{field.name: value}), field.name) == value
        for value in (field.low - 1, *([] if field.high is None else [field.high + 1])):
            with pytest.raises(InputError, match=f"{field.name} must be"):
                RunConfig(**{field.name: value})


def test_defaults_of_units_are_declared():
    for unit in UNITS:
        config = RunConfig(unit=unit)
        for name, field in FIELDS.items():
            if not field.is_settings and name != "unit":
                assert getattr(config, name) == field.default_of(unit)
