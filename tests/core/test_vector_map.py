import holoviews as hv
import numpy as np
import pytest

from core import from_samples, map_vectors
from core.density import hdr_density


@pytest.fixture(scope="module")
def mapped():
    rng = np.random.default_rng(1)
    samples = {f"s{i}": rng.normal(i / 10, 1, 300) for i in range(50)}
    return map_vectors(from_samples(samples | {"odd": rng.uniform(8, 9, 300)}), k=8)


def test_it_is_embedded_and_its_density_known(mapped):
    assert mapped.y.shape == (51, 2)
    np.testing.assert_array_equal(mapped.hdr.density, hdr_density(mapped.y, k=8).density)
    # Samples whose means go up stand in a row.
    rank = np.corrcoef(mapped.y[:50, 0], np.arange(50))[0, 1]
    assert abs(rank) > 0.95


def test_its_table_and_its_line_name_the_points(mapped):
    table = mapped.table()
    first = table.loc[table["rank"] == 1, "label"].item()
    assert first in repr(mapped)
    assert table["m"].tolist() == [300] * 51


def test_it_is_drawn_and_says_nothing_of_demand(mapped):
    assert mapped.plot(title="Samples").axes[0].get_title() == "Samples"
    state = hv.renderer("bokeh").get_plot(mapped.plot(interactive=True)).state
    texts = str([tool.tooltips for tool in state.tools if hasattr(tool, "tooltips")])
    assert "@{m}{0,0} values" in texts
    assert "kWh" not in texts


def test_settings_of_the_method_are_passed_on(mapped):
    other = map_vectors(mapped.vectors, method="laplacian", dim=3, k=8)
    assert other.y.shape == (51, 3)
    assert other.embedding.method == "laplacian"
