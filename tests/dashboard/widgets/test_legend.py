"""The legend: what the browser may choose in it."""

from dashboard.widgets import ColorKey


def test_only_categories_that_are_shown_can_be_chosen():
    chosen = []
    legend = ColorKey(choose=chosen.append)
    legend.entries = [{"name": "flat", "color": "#000000", "note": ""}]
    for message in ("flat", "dual", None, 3, ["flat"]):
        legend._handle_msg(message)
    assert chosen == ["flat"]
    ColorKey()._handle_msg("flat")  # a legend in which nothing is chosen
