import pytest

from dashboard.job_line import JobLine, duration
from dashboard.jobs import Job


@pytest.fixture
def job() -> Job:
    return Job("key", print, "", {"session"})


def test_a_job_is_followed_to_its_end(job):
    line = JobLine(side=0)
    job.state, job.position = "queued", 2
    assert line.follow(job)
    assert line.status.text == "Number 2 in the queue"
    assert not line.progress.visible
    job.state, job.fraction, job.message = "running", 0.4, "Counting readings"
    assert line.follow(job)
    assert line.status.text.startswith("Counting readings")
    assert line.progress.visible
    assert line.progress.value == 40
    for state in ("done", "failed", "cancelled"):
        job.state = state
        assert not line.follow(job)
        assert line.status.text == ""
        assert not line.progress.visible


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "1 s"), (99, "99 s"), (150, "2 min"), (9000, "2.5 h")]
)
def test_durations_are_rough(seconds, text):
    assert duration(seconds) == text
