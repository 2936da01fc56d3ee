"""The page in a notebook, run without a browser by nbclient."""

import nbformat
import pytest
from nbclient import NotebookClient
from serving import COLD

from core.errors import InputError
from core.readings import Dataset
from dashboard.notebook import show_page

ASK = """
import asyncio, re, urllib.request
frame = wf.explore(dataset)
assert frame is not None and wf.explore(dataset).src == frame.src  # one server for one dataset
def get(path):
    with urllib.request.urlopen(frame.src + path) as answer:
        return answer.read().decode()
page = await asyncio.to_thread(get, "")
from dashboard.session import count_sessions
print("sessions:", count_sessions())
print("title:", re.search("<title>(.*?)</title>", page).group(1))
"""


@pytest.fixture(scope="module")
def cells(demo_path, tmp_path_factory):
    """A notebook's cells after it was run."""
    folder = tmp_path_factory.mktemp("notebook")
    sources = [
        f"{COLD}\nimport wattfold as wf\ndataset = wf.open({str(demo_path)!r})",
        "dataset",
        "dataset.calendar(dataset.households['household'][0])",
        "wf.explore(dataset)",
        ASK,
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(s) for s in sources])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WATTFOLD_CACHE", str(folder / "cache"))
        patch.setenv("IPYTHONDIR", str(folder))
        NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return [cell["outputs"] for cell in notebook.cells]


def data_of(outputs, kind):
    (output,) = [each for each in outputs if each["output_type"] == "execute_result"]
    return output["data"][kind]


def test_a_notebook_shows_the_page_in_a_frame(cells):
    html = data_of(cells[3], "text/html")
    assert "<iframe" in html
    assert 'src="http://localhost:' in html


def test_the_frame_is_answered_with_the_page(cells):
    printed = "".join(each.get("text", "") for each in cells[4])
    assert printed.split("\n")[-3:] == ["sessions: 1", "title: Wattfold", ""]


def test_results_are_shown_as_tables_and_pictures(cells):
    assert "<td style='text-align: left'>60</td>" in data_of(cells[1], "text/html")
    assert len(data_of(cells[2], "image/png")) > 10_000


def test_elsewhere_it_names_the_command(demo_path):
    with pytest.raises(InputError, match=f"run wattfold serve {demo_path}"):
        show_page(Dataset.open(demo_path))
