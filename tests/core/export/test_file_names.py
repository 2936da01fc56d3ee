"""File names that every system takes."""

import re

import pytest
from export_runs import HOSTILE
from hypothesis import given
from hypothesis import strategies as st

from core.export.file_names import file_name


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("map", "ISOMAP"), "wattfold-map-ISOMAP.png"),
        (("week", "Müller/../x"), "wattfold-week-Muller-x.png"),
        (("<img>", ""), "wattfold-img.png"),
        (("日本",), "wattfold.png"),
        (("..",), "wattfold.png"),
        (("a" * 500,), "wattfold-" + "a" * 80 + ".png"),
    ],
)
def test_names_are_plain(words, name):
    assert file_name(*words, suffix=".png") == name


@given(st.lists(st.text() | st.sampled_from(HOSTILE), max_size=4))
def test_any_words_make_a_safe_name(words):
    name = file_name(*words, suffix=".csv")
    assert re.fullmatch(r"wattfold(-[A-Za-z0-9._-]*[A-Za-z0-9])?\.csv", name)
    assert ".." not in name
    assert len(name) < 100
