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
from dashboard import logs
from dashboard.logs import DiscreetFormatter


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
        record_of("dashboard.jobs", "job", seconds=1.5, state="done")
    )
    event = json.loads(line)
    assert (event["event"], event["seconds"], event["state"]) == ("job", 1.5, "done")
    assert event["level"] == "error"
    text = DiscreetFormatter(as_json=False, discreet=True).format(
        record_of("dashboard.jobs", "job", seconds=1.5)
    )
    assert text.endswith("error   job seconds=1.5")


def test_what_was_received_and_the_words_of_errors_are_told_at_debug_only():
    record = record_of("bokeh.server.views.ws", "cannot read %r", "house 1003", error=True)
    discreet = DiscreetFormatter(as_json=True, discreet=True).format(record)
    assert "1003" not in discreet
    assert "cannot read" in discreet
    assert "InputError at" in discreet
    assert "test_logs.py" in discreet
    open_ = DiscreetFormatter(as_json=True, discreet=False).format(record)
    assert "house 1003" in open_
    assert "no household" in open_


def test_an_unhandled_error_of_the_event_loop_is_told_without_its_words():
    message = "Task exception was never retrieved\nfuture: <Task exception=InputError('1003')>"
    line = DiscreetFormatter(as_json=True, discreet=True).format(record_of("asyncio", message))
    assert json.loads(line)["event"] == "Task exception was never retrieved"


def test_what_a_page_sent_is_not_told_by_panel():
    message = "Callback failed for object named 'Household' changing property {'value': '1003'}"
    line = DiscreetFormatter(as_json=True, discreet=True).format(record_of("panel.x", message))
    assert json.loads(line)["event"] == "Callback failed for object named 'Household'"


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
