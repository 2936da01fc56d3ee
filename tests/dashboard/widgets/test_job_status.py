"""The bar and the sentence of a job."""

import panel_material_ui as pmui
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
    ("end", "told"),
    [("done", ["done", 7]), ("failed", ["failed", "no room"]), ("cancelled", [])],
)
def test_the_end_of_a_job_is_told_and_its_button_goes(end, told):
    job, heard = Job("key", print, "", {"session"}, result=7, error="no room"), []
    followed = FollowedJob(job, lambda callback: callback(), lambda: None)
    cancel = pmui.Button(label="Cancel", visible=False)
    status = JobStatus(side=0, cancel=cancel)
    status.follow(followed)
    status.wait_for(
        followed,
        done=lambda job: heard.extend(["done", job.result]),
        failed=lambda error: heard.extend(["failed", error]),
    )
    assert status.job is followed
    assert cancel.visible
    job.state = end
    for listener in tuple(job.listeners):
        listener()
    assert heard == told
    assert status.job is None
    assert not cancel.visible


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_result_that_is_not_stored_is_computed_and_read(is_kept):
    store: dict[str, int] = {}
    asked, shown = [], []

    def job_of(name: str, result: int | None) -> FollowedJob:
        asked.append(name)
        job = Job(name, print, "", {"session"}, state="done", result=result)
        return FollowedJob(job, lambda callback: callback(), lambda: None)

    def submit() -> FollowedJob:
        if is_kept:
            store["result"] = 7
        return job_of("compute", None)

    for _ in range(2):
        JobStatus(side=0).fetch(
            lambda: job_of("find", store.get("result")),
            submit,
            show=shown.append,
            failed=pytest.fail,
        )
    again = ["find"] if is_kept else ["find", "compute", "find"]
    assert asked == ["find", "compute", "find", *again]
    assert shown == ([7, 7] if is_kept else [None, None])


def test_a_job_that_is_stopped_tells_nothing():
    job, heard = Job("key", print, "", {"session"}), []
    followed = FollowedJob(job, lambda callback: callback(), lambda: heard.append("cancelled"))
    status = JobStatus(side=0)
    status.wait_for(followed, done=heard.append, failed=heard.append)
    status.stop()
    job.state = "done"
    for listener in tuple(job.listeners):
        listener()
    assert heard == ["cancelled"]
    assert status.job is None


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "1 s"), (99, "99 s"), (150, "2 min"), (9000, "2.5 h")]
)
def test_durations_are_rough(seconds, text):
    assert duration(seconds) == text
