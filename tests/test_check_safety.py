"""The check that keeps dangerous code out sees it."""

import pytest
from check_safety import ROOT, SCRIPT, TEMPLATE, faults_in_python, faults_in_text, find_faults


@pytest.mark.parametrize(
    "line",
    [
        "import pickle",
        "from joblib import load",
        "import xml, dill as d",
        "eval(text)  # noqa",
        "exec(code)",
        "os.system(name)",
        "subprocess.run(command, shell=True)",
        "np.load(path, allow_pickle=True)",
        "pn.pane.HTML(f'<b>{household}</b>')",
        "pmui.Typography(household)",
        "Markup(text)",
    ],
)
def test_python(line):
    assert list(faults_in_python(line))


@pytest.mark.parametrize(
    "line",
    ["import numpy", "Markup('<b>1</b>')", "model.eval", "np.load(path, allow_pickle=False)"],
)
def test_harmless_python(line):
    assert not list(faults_in_python(line))


def test_scripts_and_templates():
    assert list(faults_in_text("node.innerHTML = text", SCRIPT))
    assert list(faults_in_text("node.insertAdjacentHTML('x', text)", SCRIPT))
    assert not list(faults_in_text("if (a.innerHTML == b) node.textContent = text", SCRIPT))
    assert list(faults_in_text("{{ name | safe }}", TEMPLATE))


def test_the_program_is_free_of_it():
    assert find_faults(ROOT) == []
