import pytest

from dashboard import waiting_line
from dashboard.waiting_line import WaitingLine


class Clock:
    """Seconds that pass when told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def line(clock) -> WaitingLine:
    return WaitingLine(clock)


def join(line: WaitingLine) -> str:
    """The ticket of somebody who came, and asked again."""
    ticket = line.wait(None)[0]
    return line.wait(ticket)[0]


def before(line: WaitingLine, ticket: str) -> int:
    return line.wait(ticket)[1]


def test_while_there_is_room_nobody_waits(line):
    assert line.lets_in(None, room=1)
    assert not line.lets_in(None, room=0)


def test_who_came_first_has_the_first_turn(line):
    first, second, third = (join(line) for _ in range(3))
    assert [before(line, each) for each in (first, second, third)] == [0, 1, 2]
    assert not line.lets_in(None, room=3)
    assert not line.lets_in(second, room=1)
    assert line.lets_in(first, room=1)
    assert line.lets_in(second, room=1)
    assert line.lets_in(third, room=1)
    assert line.lets_in(None, room=1)


def test_a_place_is_kept_by_asking_again(line, clock):
    first, second = join(line), join(line)
    for _ in range(10):
        clock.now += 5
        assert line.wait(second) == (second, 1)
        assert line.wait(first) == (first, 0)


def test_who_does_not_ask_again_has_left(line, clock):
    first, second = join(line), join(line)
    clock.now += waiting_line._LEFT_SECONDS - 1
    assert before(line, second) == 1
    clock.now += 1
    assert before(line, second) == 0
    assert not line.lets_in(first, room=1)  # they join anew


def test_who_never_shows_a_ticket_holds_up_nobody(line, clock):
    """Two browsers without cookies and a program that asks every second."""
    join(line)
    for _ in range(20):
        clock.now += 1
        line.wait(None)
    # The one who came back has left meanwhile, and the others do not count.
    assert line.lets_in(None, room=1)


def test_a_turn_is_used_once(line):
    first, _ = join(line), join(line)
    assert line.lets_in(first, room=1)
    assert not line.lets_in(first, room=1)


def test_who_did_not_wait_for_the_page_comes_first_again(line):
    first, second = join(line), join(line)
    assert line.lets_in(first, room=1)
    line.put_back(first)
    line.put_back(None)  # somebody who had no ticket
    assert not line.lets_in(second, room=1)
    assert line.lets_in(first, room=1)


@pytest.mark.parametrize("forged", ["", "x", "x" * 10_000])
def test_tickets_that_nobody_handed_out_are_worth_nothing(line, forged):
    join(line)
    assert not line.lets_in(forged, room=1)
    assert line.wait(forged)[0] != forged


def test_tickets_cannot_be_guessed(line):
    tickets = {join(line) for _ in range(100)}
    assert len(tickets) == 100
    assert min(map(len, tickets)) >= 20


def test_the_line_does_not_grow_for_ever(line, monkeypatch):
    monkeypatch.setattr(waiting_line, "_LONGEST", 3)
    tickets = [join(line) for _ in range(5)]
    assert line.wait(None)[1] == 3
    assert line.wait(tickets[0]) == (tickets[0], 0)
    assert line.lets_in(tickets[0], room=1)
