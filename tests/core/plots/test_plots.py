"""What results draw of themselves, with Matplotlib and with HoloViews."""

import holoviews as hv
import numpy as np
import pytest

from core.anomalies import find_anomalies, rank_households, read_weeks
from core.errors import InputError
from core.figures import demand_calendar
from core.readings import Dataset
from core.runs import RunConfig, run


@pytest.fixture(scope="module")
def demo(demo_path):
    return Dataset.open(demo_path)


@pytest.fixture(scope="module")
def result(demo):
    return run(demo, RunConfig(k=8))


@pytest.fixture(scope="module")
def anomalies(demo):
    return find_anomalies(demo, threshold=0.05, resamples=0)


def render(plot):
    """The Bokeh figures of a HoloViews object."""
    from bokeh.plotting import figure

    return list(hv.renderer("bokeh").get_plot(plot).state.select({"type": figure}))


def test_a_map_shows_every_point_at_its_place(result):
    figure = result.plot()
    drawn = np.concatenate([each.get_offsets() for each in figure.axes[0].collections])
    for place in result.y:
        assert np.isclose(drawn, place).all(axis=1).any()
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_a_map_is_coloured_as_asked(result):
    figure = result.plot(color_by="dwelling")
    assert figure.legends[0].get_title().get_text() == "dwelling"
    with pytest.raises(InputError, match=r"coloured by 'Mood'; choose one of HDR, .*dwelling"):
        result.plot(color_by="Mood")


def test_an_interactive_map_has_the_same_points(result):
    plot = result.plot(interactive=True)
    (figure,) = render(plot)
    sources = [each.data_source.data for each in figure.renderers if hasattr(each, "data_source")]
    (points,) = [data for data in sources if "rank" in data]
    assert sorted(points["x"]) == pytest.approx(sorted(result.y[:, 0]))


def test_a_calendar_holds_every_reading(demo):
    household = demo.households["household"].iat[0]
    readings = demo.readings(household)
    expected = demand_calendar(readings["time"].to_numpy(), readings["kwh"].to_numpy(), 30).kwh
    (image,) = demo.calendar(household).axes[0].images
    np.testing.assert_array_equal(image.get_array().filled(np.nan), expected.T)
    picture = demo.calendar(household, interactive=True).Image.I
    np.testing.assert_array_equal(picture.dimension_values("kwh", flat=False), expected.T)
    (figure,) = render(demo.calendar(household, interactive=True))
    assert figure.y_range.start > figure.y_range.end  # the day runs from top to bottom


def test_an_anomaly_is_drawn_with_its_evidence(anomalies):
    household = next(iter(anomalies.findings))
    finding = anomalies.findings[household]
    figure = anomalies.plot(household)
    assert household in figure.get_suptitle()
    mean_day = figure.axes[0]
    drawn = {line.get_label(): line.get_ydata() for line in mean_day.lines}
    np.testing.assert_array_equal(drawn["expected"][:48], finding.expected)
    assert len(render(anomalies.plot(household, interactive=True))) == 3


def test_of_a_usual_home_the_calendar_is_drawn(anomalies):
    usual = anomalies.table["household"].iat[-1]
    assert anomalies.plot(usual).axes[0].get_title() == f"{usual}: Nothing unusual"
    assert len(render(anomalies.plot(usual, interactive=True))) == 1


def test_a_period_holds_for_the_picture(demo):
    config = RunConfig(first_day="2009-08-01", last_day="2009-08-31")
    found = find_anomalies(demo, config, resamples=0)
    (image,) = found.plot(found.table["household"].iat[-1]).axes[0].images
    assert image.get_array().shape[1] == 31


def test_what_cannot_be_drawn_says_why(demo, anomalies):
    with pytest.raises(InputError, match="no household 'nobody'"):
        anomalies.plot("nobody")
    with pytest.raises(InputError, match="find_anomalies"):
        rank_households(read_weeks(demo), resamples=0).plot("nobody")
