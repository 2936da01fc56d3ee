import pytest

from core.errors import InputError
from dashboard.admission import (
    CROWDED,
    DEFAULT_MAXIMUM_SESSIONS,
    FULL,
    MAXIMUM_WAITING,
    Admission,
    maximum_sessions,
)


class Server:
    """One on which so many people are, and so many wait for their page."""

    def __init__(self, visitors: int = 0, waiting: int = 0) -> None:
        self.visitors = visitors
        self.waiting = waiting
        self.admission = Admission(
            visitors=lambda: self.visitors, waiting=lambda: self.waiting, maximum=10
        )


def test_while_there_is_room_people_are_let_in():
    assert Server(visitors=9, waiting=MAXIMUM_WAITING - 1).admission.ask(None) is None


@pytest.mark.parametrize(
    ("visitors", "waiting", "why"),
    [(10, 0, FULL), (11, 0, FULL), (3, MAXIMUM_WAITING, CROWDED), (10, MAXIMUM_WAITING, FULL)],
)
def test_else_they_are_told_why_not(visitors, waiting, why):
    refusal = Server(visitors, waiting).admission.ask(None)
    assert refusal.why == why
    assert why in refusal.page
    assert f'content="{refusal.seconds}"' in refusal.page


def test_they_are_told_how_many_came_before():
    server = Server(waiting=MAXIMUM_WAITING)
    refusals = [server.admission.ask(None) for _ in range(3)]
    assert [refusal.before for refusal in refusals] == [0, 1, 2]
    for refusal, text in zip(
        refusals, ("You are the next.", "1 person came", "2 people came"), strict=True
    ):
        assert text in refusal.page


def test_who_waits_keeps_the_place_when_the_server_is_full_meanwhile():
    server = Server(waiting=MAXIMUM_WAITING)
    first, second = (server.admission.ask(None).ticket for _ in range(2))
    server.visitors = 10
    for ticket in (second, first):
        assert server.admission.ask(ticket).ticket == ticket
    server.visitors, server.waiting = 9, 0
    assert server.admission.ask(None).before == 2
    assert server.admission.ask(second).before == 1
    assert server.admission.ask(first) is None


def test_the_cap_is_set_by_the_environment(monkeypatch):
    monkeypatch.delenv("WATTFOLD_MAX_SESSIONS", raising=False)
    assert maximum_sessions() == DEFAULT_MAXIMUM_SESSIONS
    monkeypatch.setenv("WATTFOLD_MAX_SESSIONS", "7")
    assert maximum_sessions() == 7
    for wild in ("0", "-1", "many", "1.5", "٣"):
        monkeypatch.setenv("WATTFOLD_MAX_SESSIONS", wild)
        with pytest.raises(InputError, match="WATTFOLD_MAX_SESSIONS"):
            maximum_sessions()
