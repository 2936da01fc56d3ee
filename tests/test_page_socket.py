import asyncio
import copy
from types import SimpleNamespace
from typing import Any

import pytest
from bokeh.document import Document
from bokeh.models import Div
from bokeh.protocol.messages.pull_doc_req import pull_doc_req
from page_client import run_alone
from panel.io.server import WSHandler

from dashboard import page_socket
from dashboard.page_socket import PageSocket, _send_document, leave_looks_alone, write_ahead


@pytest.fixture
def document() -> Document:
    found = Document()
    found.add_root(Div(text="as it was made"))
    return found


def ask(document: Document) -> tuple[Any, Any]:
    """What a page asks, and what it is answered."""
    locked = []

    async def with_lock(work):
        locked.append(True)
        return await work()

    session = SimpleNamespace(document=document, with_document_locked=with_lock)
    request = pull_doc_req.create()
    answer = run_alone(_send_document(request, SimpleNamespace(session=session)))
    assert locked == [True]
    return request, answer


def shown(answer: Any) -> Document:
    copy = Document()
    answer.push_to_document(copy)
    return copy


def test_a_page_gets_its_document(document):
    request, answer = ask(document)
    assert answer.header["reqid"] == request.header["msgid"]
    assert shown(answer).to_json() == document.to_json()


def test_what_was_written_ahead_is_sent_as_it_is(document, monkeypatch):
    write_ahead(document)
    monkeypatch.setattr(page_socket, "WrittenDocument", None)  # nothing else is written
    request, answer = ask(document)
    assert answer.header["reqid"] == request.header["msgid"]
    assert shown(answer).to_json() == document.to_json()


def test_what_has_changed_since_is_written_again(document):
    write_ahead(document)
    document.roots[0].text = "as it is now"
    assert shown(ask(document)[1]).roots[0].text == "as it is now"


def test_who_asks_again_gets_it_as_it_is_then(document):
    write_ahead(document)
    ask(document)
    document.roots[0].text = "as it is now"
    assert shown(ask(document)[1]).roots[0].text == "as it is now"


def test_the_loop_goes_on_while_a_document_is_written(document, monkeypatch):
    turns = []

    async def both() -> None:
        loop = asyncio.get_running_loop()

        class Slow(page_socket.WrittenDocument):
            def __init__(self, document: Document) -> None:
                turn = asyncio.run_coroutine_threadsafe(asyncio.sleep(0, "turned"), loop)
                turns.append(turn.result(20))
                super().__init__(document)

        monkeypatch.setattr(page_socket, "WrittenDocument", Slow)

        async def with_lock(work):
            return await work()

        session = SimpleNamespace(document=document, with_document_locked=with_lock)
        await _send_document(pull_doc_req.create(), SimpleNamespace(session=session))

    run_alone(both())
    assert turns == ["turned"]


def test_the_looks_of_a_page_are_no_news():
    value = {"kind": "ModelChanged", "model": {"id": "p1"}, "attr": "value", "new": 3}
    looks = {**value, "attr": "stylesheets", "new": []}
    column = {"kind": "ColumnsStreamed", "attr": "stylesheets"}
    patch = {"events": [looks, value, column]}
    leave_looks_alone(patch)
    assert patch == {"events": [value, column]}


@pytest.mark.parametrize("wild", [None, [], "events", {"events": None}, {"events": {}}, {}])
def test_what_is_no_change_is_left_for_bokeh_to_refuse(wild):
    before = copy.deepcopy(wild)
    leave_looks_alone(wild)
    assert wild == before


def test_wild_changes_are_left_for_bokeh_to_refuse():
    patch = {"events": [None, 3, [], {"attr": "stylesheets"}]}
    before = copy.deepcopy(patch)
    leave_looks_alone(patch)
    assert patch == before


@pytest.fixture
def handled(monkeypatch) -> list[Any]:
    """What sockets hand on to Bokeh, in order."""
    found: list[Any] = []

    async def handle(_: WSHandler, message: Any) -> None:
        found.append(message)

    monkeypatch.setattr(WSHandler, "_handle", handle)
    return found


def socket() -> PageSocket:
    """A socket without a connection."""
    made = PageSocket.__new__(PageSocket)
    made.handler = SimpleNamespace(_handlers={})
    return made


def test_a_socket_hands_on_changes_without_looks(handled):
    looks = {"kind": "ModelChanged", "attr": "stylesheets"}
    patch = SimpleNamespace(msgtype="PATCH-DOC", content={"events": [looks]})
    other = SimpleNamespace(msgtype="PUSH-DOC", content={"events": [looks]})

    async def send() -> None:
        for message in (patch, other):
            await socket()._handle(message)

    run_alone(send())
    assert [message.content["events"] for message in handled] == [[], [looks]]


def test_sockets_answer_with_documents_in_our_way(handled):
    made = socket()
    run_alone(made._handle(SimpleNamespace(msgtype="PULL-DOC-REQ")))
    assert made.handler._handlers == {"PULL-DOC-REQ": _send_document}


def test_messages_of_many_sockets_are_handled_one_in_a_turn(handled):
    async def count_turns() -> None:
        while sum(turn != "|" for turn in handled) < 3:
            handled.append("|")
            await asyncio.sleep(0)

    async def send() -> None:
        messages = [socket()._handle(SimpleNamespace(msgtype=name)) for name in "abc"]
        await asyncio.gather(*messages, count_turns())

    run_alone(send())
    turns = [[]]
    for item in handled:
        turns.append([]) if item == "|" else turns[-1].append(item.msgtype)
    assert [turn for turn in turns if turn] == [["a"], ["b"], ["c"]]
