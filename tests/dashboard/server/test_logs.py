"""Logs that people and machines can read, and that tell nobody's data."""

import inspect
import json
import logging
import warnings
from types import SimpleNamespace

import bokeh.server.views.ws
import panel.io.document
import pytest
from bokeh.core.serialization import Deserializer
from bokeh.plotting import figure
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine
from tornado.websocket import WebSocketClosedError

from core.errors import InputError
from core.runs._shared_stages import SharedStages
from dashboard.failures import describe_error, describe_places, mask
from dashboard.server import logs
from dashboard.server.logs import DiscreetFormatter


def record_of(logger: str, message: str, *arguments: object, error: bool = False, **extra: object):
    try:
        raise InputError("there is no household '1003'")
    except InputError as problem:
        info = (type(problem), problem, problem.__traceback__) if error else None
    return logging.getLogger(logger).makeRecord(
        logger, logging.ERROR, "file", 1, message, arguments, info, extra=extra
    )


def test_an_event_is_one_object_with_its_facts():
    line = DiscreetFormatter(as_json=True, discreet=True).format(
        record_of("dashboard.jobs.pool", "job", seconds=1.5, state="done")
    )
    event = json.loads(line)
    assert (event["event"], event["seconds"], event["state"]) == ("job", 1.5, "done")
    assert event["level"] == "error"
    text = DiscreetFormatter(as_json=False, discreet=True).format(
        record_of("dashboard.jobs.pool", "job", seconds=1.5)
    )
    assert text.endswith("error   job seconds=1.5")


def test_texts_that_may_be_ids_are_shown_at_debug_only():
    record = record_of("bokeh.server.views.ws", "cannot read %r", "house 1003", error=True)
    discreet = json.loads(DiscreetFormatter(as_json=True, discreet=True).format(record))
    assert discreet["event"] == "cannot read …"
    assert discreet["error"].startswith("InputError: there is no household … at ")
    assert "test_logs.py:" in discreet["error"]
    everything = DiscreetFormatter(as_json=True, discreet=False).format(record)
    assert "house 1003" in everything
    assert "no household '1003'" in everything


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("there is no household '1003' among 622", "there is no household … among …"),
        ("can't read MAC000002, it's gone", "can't read …, it's gone"),
        ("""got b"it's Smith's" of type bytes""", "got … of type bytes"),
        (r"""'O\'Hara' and "Smith" differ""", "… and … differ"),
        ("an unfinished 'Smith and", "an unfinished …"),
        ("demand of 0.123 kWh at 2009-07-14 00:30", "demand of … kWh at … …:…"),
        ("failed\nfor Smith", "failed"),
        ("['Smith', 'Jones'] not in index", "[…, …] not in index"),
        (
            """Callable raised "ValueError('3 points of \'Smith\' are not 4')".\nInvoked as f(x)""",
            "Callable raised ValueError: … points of … are not ….",
        ),
    ],
)
def test_what_is_quoted_or_has_a_digit_is_hidden(text, shown):
    assert mask(text) == shown


@pytest.mark.parametrize("sign", ["x", "'", '"', "\\'", "Error(", "' "])
def test_a_long_error_is_cut_before_it_is_masked(sign):
    """One who sends a long value cannot keep the server busy with its refusal."""
    assert len(mask(f"there is {sign * 1_000_000}")) <= 2_000


def test_words_that_the_code_of_an_error_does_not_have_are_hidden():
    with pytest.raises(ValueError, match="a number") as caught:
        check_number("Mc" + "Coy")
    assert describe_error(caught.value) == "ValueError: expected a number, got … instead"
    # Of errors that are not raised by Python code there is nothing to compare with.
    with pytest.raises(ZeroDivisionError) as caught:
        _ = 1 / 0
    assert describe_error(caught.value) == "ZeroDivisionError: division by zero"


def check_number(value: object) -> None:
    if not isinstance(value, int):
        raise ValueError(f"expected a number, got {value} instead")


@pytest.mark.parametrize(
    ("message", "values", "shown"),
    [
        ("%d clients, %.1f s, %s", (3, 1.25, "Smith"), "3 clients, 1.2 s, …"),
        ("error: %r: %r", (KeyError("Smith"), b"{}"), "error: KeyError: …: …"),
        ("Uncaught exception %s\n%r", ("GET /?view=Smith", {"Smith"}), "Uncaught exception … …"),
        ("code=%(code)s of %(who)s", ({"code": 4, "who": "Smith"},), "code=4 of …"),
        ("100 % of 'Smith'", (), "… % of …"),
    ],
)
def test_values_of_a_message_are_filled_in_unless_they_are_texts(message, values, shown):
    record = record_of("bokeh.server", message, *values)
    line = DiscreetFormatter(as_json=True, discreet=True).format(record)
    assert json.loads(line)["event"] == shown


def test_what_a_page_sent_is_not_told_by_panel():
    message = "Callback failed for object named 'Household' changing property {'value': 'Smith'}"
    line = DiscreetFormatter(as_json=True, discreet=True).format(record_of("panel.x", message))
    assert (
        json.loads(line)["event"] == "Callback failed for object named … changing property {…: …}"
    )


@pytest.fixture
def logging_as_before():
    """Put back what setting up changes for the whole process."""
    names = [None, *logs._NOISY]
    before = [
        (logger := logging.getLogger(name), logger.level, logger.handlers[:], logger.propagate)
        for name in names
    ]
    yield
    logging.captureWarnings(False)
    for logger, level, handlers, propagate in before:
        logger.setLevel(level)
        logger.handlers[:] = handlers
        logger.propagate = propagate


@pytest.mark.parametrize(("level", "told"), [("debug", True), ("info", False), ("error", False)])
def test_who_leaves_is_told_to_those_who_debug(level, told, logging_as_before, capsys):
    # Both libraries warn in these words; another wording would be told again.
    for library in (bokeh.server.views.ws, panel.io.document):
        assert f'("{logs._LEFT}")' in inspect.getsource(library)
    logs.set_up(level, as_json=True)
    logging.getLogger("bokeh.server.views.ws").warning(logs._LEFT)
    for error in (WebSocketClosedError(), OSError()):
        lost = (type(error), error, None)
        logging.getLogger("asyncio").error("never retrieved", exc_info=lost)
    logging.getLogger("panel.io.document").error("something else")
    events = [json.loads(line)["event"] for line in capsys.readouterr().err.splitlines()]
    left = [logs._LEFT, "never retrieved"] if told else []
    assert events == [*left, "never retrieved", "something else"]


@pytest.mark.parametrize(("level", "told"), [("debug", True), ("info", False)])
def test_models_that_a_browser_sends_back_are_no_news(level, told, logging_as_before, capsys):
    warnings.simplefilter("default")  # as in a server; here they are errors
    logs.set_up(level, as_json=True)
    plot = figure()
    sent = {"type": "object", "name": "Figure", "id": plot.id}
    assert Deserializer(references=[plot]).decode(sent) is plot
    assert ("reference already known" in capsys.readouterr().err) == told


@pytest.mark.parametrize(
    ("status", "level"), [(200, "DEBUG"), (404, "DEBUG"), (503, "DEBUG"), (500, "ERROR")]
)
def test_a_request_is_told_without_its_query(status, level, caplog):
    line = RequestStartLine("GET", "/page?view=house-1003", "HTTP/1.1")
    request = HTTPServerRequest(start_line=line, headers=HTTPHeaders({"Host": "localhost"}))
    handler = SimpleNamespace(request=request, get_status=lambda: status)
    with caplog.at_level(logging.DEBUG, logger="dashboard.access"):
        logs.log_request(handler)
    (record,) = caplog.records
    assert (record.levelname, record.status, record.path) == (level, status, "/page")
    for discreet in (True, False):
        line = DiscreetFormatter(as_json=True, discreet=discreet).format(record)
        assert "1003" not in line


def test_what_is_wrong_again_and_again_does_not_fill_the_log():
    limit = logs.LimitRepeats(burst=3, seconds=60)
    records = [record_of("asyncio", "Exception in callback") for _ in range(100)]
    for number, record in enumerate(records):
        record.created = 1000.0 + number
    passed = [record for record in records if limit.filter(record)]
    assert [record.created - 1000 for record in passed] == [0, 1, 2, 60, 61, 62]
    assert [getattr(record, "left_out", 0) for record in passed] == [0, 0, 0, 57, 0, 0]
    other = record_of("asyncio", "something else")
    other.lineno = 2
    other.created = 1100.0
    assert limit.filter(other)
    earlier = record_of("asyncio", "Exception in callback")
    earlier.created = 5.0
    assert limit.filter(earlier)


def test_places_are_the_innermost_and_where_our_code_led_there():
    def fail(depth):
        return fail(depth - 1) if depth else 1 / 0

    with pytest.raises(ZeroDivisionError) as caught:
        SharedStages().get_or_make("cube", "digest", lambda: fail(9))
    innermost, *_, own = describe_places(caught.value).split(" < ")
    assert "test_logs.py" in innermost
    assert "_shared_stages.py" in own
