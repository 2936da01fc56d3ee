"""In place of the worker pool: keeps jobs until a test changes them or does them."""

from dashboard.jobs import Job


class HeldJobs:
    """Pass it as the pool of a `SessionPool`."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def submit(self, session, key, task, argument, **options) -> Job:
        self.jobs.append(Job(key, task, argument, {session}))
        return self.jobs[-1]

    def cancel(self, session, job) -> None:
        self.change(job, state="cancelled")

    @staticmethod
    def change(job, **values) -> None:
        """Change a job as the pool does."""
        for name, value in values.items():
            setattr(job, name, value)
        for listener in tuple(job.listeners):
            listener()

    def work(self, jobs=None) -> None:
        """Do what is queued, here."""
        for job in list(self.jobs if jobs is None else jobs):
            if job.state == "queued":
                result = job.task(job.argument, lambda fraction, message="": None)
                self.change(job, result=result, state="done")
