"""The bar and the sentence of a job."""

import pytest

from dashboard.jobs import FollowedJob, Job
from dashboard.widgets import JobStatus, duration


@pytest.mark.parametrize("end", ["done", "failed", "cancelled"])
def test_a_job_is_followed_to_its_end(end):
    job = Job("key", print, "", {"session"})
    followed = FollowedJob(job, lambda callback: callback(), lambda: None)
    status = JobStatus(side=0)
    status.follow(followed)
    assert status.sentence.text == "Starting"

    def change(**values):
        for name, value in values.items():
            setattr(job, name, value)
        for listener in tuple(job.listeners):
            listener()

    change(position=2)
    assert status.sentence.text == "Number 2 in the queue"
    assert not status.bar.visible
    change(state="running", fraction=0.4, message="Counting readings")
    assert status.sentence.text.startswith("Counting readings")
    assert status.bar.visible
    assert status.bar.value == 40
    change(state=end)
    assert status.sentence.text == ""
    assert not status.bar.visible


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "1 s"), (99, "99 s"), (150, "2 min"), (9000, "2.5 h")]
)
def test_durations_are_rough(seconds, text):
    assert duration(seconds) == text
