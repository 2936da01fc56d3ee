"""Work outside the event loop: the worker pool, and how a session's page follows its jobs.

Worker processes import this package: nothing in it imports Panel, and what needs `core` is in
modules of its own, such as `workspace`, that a worker imports with its first task.
"""

from dashboard.jobs._job import Job, Limits
from dashboard.jobs._rate_limit import Rate
from dashboard.jobs.pool import WorkerPool
from dashboard.jobs.session_folder import SessionFolder
from dashboard.jobs.session_pool import FollowedJob, Schedule, SessionPool, coalesced

__all__ = [
    "FollowedJob",
    "Job",
    "Limits",
    "Rate",
    "Schedule",
    "SessionFolder",
    "SessionPool",
    "WorkerPool",
    "coalesced",
]
