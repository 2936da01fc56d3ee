"""From choices to a run: when to start, what to say meanwhile, how to stop."""

from concurrent.futures import Future, wait

import panel as pn
import panel_material_ui as pmui
import param
from panel import Column, Row

from core.errors import WattfoldError
from core.neighbors import BACKENDS
from core.neighbors.cost import kept_machine
from core.neighbors.threads import available_threads
from core.readings import Dataset
from core.runs import Run, RunConfig
from core.runs.forecast import Forecast, forecast
from dashboard import fits
from dashboard.components import PlainText
from dashboard.job_line import JobLine, duration
from dashboard.jobs import Job
from dashboard.state import Explorer

# What takes longer waits for Run.
_AT_ONCE_SECONDS = 15.0


class Fitting:
    """Runs what the explorer's choices ask for; the last picture stays until the next is there."""

    def __init__(self, dataset: Dataset, explorer: Explorer, session: str) -> None:
        self.dataset = dataset
        self.explorer = explorer
        self.session = session
        self.job: Job | None = None
        self.lookup: Future[Run | None] | None = None
        self.asked: RunConfig | None = None
        self._changed = True
        self.line = JobLine(side=12)
        self.error = PlainText(
            look="error", margin=(2, 12), sizing_mode="stretch_width", visible=False
        )
        self.notices = PlainText(look="quiet", margin=(2, 12), sizing_mode="stretch_width")
        self.warning = PlainText(
            look="error", margin=(2, 12), sizing_mode="stretch_width", visible=False
        )
        self.run = pmui.Button(label="Run", size="small", visible=False, margin=(4, 4, 4, 12))
        self.faster = pmui.Button(
            label="", size="small", variant="outlined", visible=False, margin=(4, 4)
        )
        self.cancel = pmui.Button(
            label="Cancel", variant="outlined", size="small", visible=False, margin=(4, 12)
        )
        self.run.on_click(lambda _: self._start())
        self.faster.on_click(lambda _: self._use_faster())
        self.cancel.on_click(lambda _: self._cancelled())
        self._faster_backend = ""
        self._seconds = 0.0
        explorer.param.watch(self._note_change, Explorer.CHOICES)
        self.panel = Column(
            self.line.panel,
            self.error,
            Row(self.run, self.faster, self.cancel, margin=0),
            self.warning,
            self.notices,
            sizing_mode="stretch_width",
            margin=0,
        )

    def warn(self, text: str) -> None:
        """Say what is no problem of a run, until the analyst chooses something."""
        self.warning.param.update(text=text, visible=True)

    def _note_change(self, *_: param.parameterized.Event) -> None:
        # Choices that belong together change one after the other: `poll` looks at all of them.
        self._changed = True
        self.warning.visible = False

    @property
    def expects_news(self) -> bool:
        """Whether a poll may find something."""
        return self._changed or self.lookup is not None or self.job is not None

    def poll(self) -> None:
        """See what has changed and how the job is; called a few times a second."""
        if self._changed:
            self._changed = False
            self._consider()
        elif self.lookup is not None:
            if self.lookup.done():
                self._take(self.lookup)
        elif self.job is not None:
            self._follow(self.job)

    def wait(self, seconds: float) -> None:
        """Give what is looked for in the store so much time to be found."""
        if self.lookup is not None:
            wait([self.lookup], timeout=seconds)

    def _consider(self) -> None:
        """Start what is quick; say what is not, and wait for Run."""
        self._give_up()
        try:
            config = self.explorer.config()
        except WattfoldError as error:
            self._fail(str(error))
            return
        self._fail("")
        self.asked = config
        self._seconds = 0.0
        run = self.explorer.run
        if run is not None and run.config == config:
            self._say_result(0.0)
            return
        self.lookup = fits.fetch(self.dataset, config)

    def _take(self, lookup: Future[Run | None]) -> None:
        """Show a run that was in the store; see about making one that was not."""
        self.lookup = None
        try:
            run = lookup.result()
        except WattfoldError as error:
            self._fail(str(error))
            return
        if run is not None:
            with pn.io.unlocked():  # all of it in one message
                self.explorer.show(run)
                self._say_result(self._seconds)
            return
        if self._seconds:
            # To make it once more would end the same way.
            self._fail(
                "the map was made, but the store did not keep it: give it more room with "
                "WATTFOLD_CACHE_SIZE, or free disk space"
            )
            return
        machine = kept_machine()
        config = self.explorer.config()
        expected = machine and forecast(self.dataset, config, machine, threads=available_threads())
        # The first map comes without asking.
        if expected and expected.seconds > _AT_ONCE_SECONDS and self.explorer.run is not None:
            self._offer(expected)
        else:
            self._start()

    def _offer(self, expected: Forecast) -> None:
        self.line.say(f"{expected.n:,} points: about {duration(expected.seconds)}")
        self.run.visible = True
        if expected.faster is not None:
            self._faster_backend, seconds = expected.faster
            title = BACKENDS[self._faster_backend].title
            self.faster.label = f"{title}: {duration(seconds)}"
            self.faster.visible = True

    def _use_faster(self) -> None:
        self.explorer.neighbors = self._faster_backend
        self.asked = self.explorer.config()
        self._changed = False
        self._start()

    def _start(self) -> None:
        if self.asked is None:
            return
        self.run.visible = self.faster.visible = False
        try:
            self.job = fits.submit(self.session, self.dataset, self.asked)
        except WattfoldError as error:
            self._fail(str(error))
            return
        self.line.say("Starting")
        self.cancel.visible = True

    def _cancelled(self) -> None:
        self._give_up()
        self.line.say("Cancelled; the map is as before.")

    def _give_up(self) -> None:
        if self.job is not None:
            fits.pool().cancel(self.session, self.job)
            self.job = None
        self.lookup = None
        self.line.progress.visible = self.cancel.visible = False
        self.run.visible = self.faster.visible = False

    def _follow(self, job: Job) -> None:
        if self.line.follow(job):
            return
        self.job = None
        self.cancel.visible = False
        if job.state == "failed":
            self._fail(job.error)
        elif job.state == "done" and self.asked is not None:
            self._seconds = job.seconds
            self.lookup = fits.fetch(self.dataset, self.asked)

    def _say_result(self, seconds: float) -> None:
        run = self.explorer.run
        took = f"in {seconds:.1f} s" if seconds else "as stored"
        self.line.say(f"{run.n:,} points {took}")
        self.notices.text = "\n".join(f"• {notice}" for notice in run.notices)

    def _fail(self, text: str) -> None:
        self.error.param.update(text=text, visible=bool(text))
