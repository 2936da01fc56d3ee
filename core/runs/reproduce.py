"""The command and the Python lines that repeat a run."""

import csv
import io
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from core.fields import FIELDS
from core.runs.config import RunConfig


def command_line(config: RunConfig, dataset_path: str | Path) -> str:
    """Return the ``wattfold embed`` command that repeats a run."""
    return shlex.join(["wattfold", "embed", str(dataset_path), *config_words(config)])


def config_words(config: RunConfig) -> list[str]:
    """Return the flags that a config is made of, those at their defaults left out."""
    words = []
    for name, value in config.changed_fields().items():
        if name in ("neighbors_parameters", "method_parameters"):
            for parameter, setting in value.items():
                words += flag_words(parameter, setting)
        elif name == "households":
            words += flag_words(name, join_ids(value))
        else:
            words += flag_words(name, value)
    return words


def python_lines(config: RunConfig, dataset_path: str | Path) -> str:
    """Return the lines of Python that repeat a run."""
    changed = config.changed_fields()
    if "households" in changed:
        changed["households"] = tuple(changed["households"])
    arguments = ", ".join(f"{name}={value!r}" for name, value in changed.items())
    return (
        "import wattfold as wf\n"
        "\n"
        f"dataset = wf.open({str(dataset_path)!r})\n"
        f"config = wf.RunConfig({arguments})\n"
        "result = wf.run(dataset, config)\n"
        "table = result.table()\n"
    )


def join_ids(ids: Iterable[str]) -> str:
    """Join household ids by commas, quoted where one of them holds a comma or looks like a file."""
    ids = list(ids)
    plain = all(name == name.strip() and not set(name) & set(',"\r\n') for name in ids)
    plain = plain and not ids[0].startswith("@")
    text = io.StringIO()
    dialect = csv.unix_dialect if not plain else csv.excel
    csv.writer(text, dialect, lineterminator="").writerow(ids)
    return text.getvalue()


def split_ids(text: str) -> list[str]:
    """Split what :func:`join_ids` joined; spaces around ids and empty ones are dropped."""
    rows = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
    return [name.strip() for row in rows for name in row if name.strip()]


def flag_words(name: str, value: Any) -> list[str]:
    """Return a flag with its value, as argparse reads it."""
    flag = FIELDS[name].flag if name in FIELDS else "--" + name.replace("_", "-")
    if value is True:
        return [flag]
    if value is False:
        return ["--no-" + flag[2:]]
    text = str(value)
    # argparse would take a value that starts with a dash for another flag.
    return [f"{flag}={text}"] if text.startswith("-") else [flag, text]
