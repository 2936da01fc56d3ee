"""What is fuzzed: functions of any bytes that must end in a right result or a known refusal.

Each is run on its corpus in every test run, and by a coverage-guided fuzzer in ``make soak``, or by

    python tests/fuzz/fuzz.py TARGET --seconds 1200

What a fuzzer finds goes into ``tests/fuzz/corpus/TARGET`` with the cure.
"""

import base64
import gzip
import json
import shutil
import tempfile
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from core.demo import make_demo
from core.errors import InputError
from core.groups import read_groups
from core.readings import Dataset, ingest
from core.readings.metadata import read_metadata
from core.runs import RunConfig
from core.weather import read_weather
from core.worklist import Worklist, read_worklist
from dashboard.server.message_guard import MessageSize, RefusedMessageError, check_content
from dashboard.state import ViewState
from dashboard.state.flagged_homes import FlaggedHomes
from dashboard.state.saved_groups import SavedGroups, check_groups
from dashboard.state.session_file import check_notes, read_session, write_session

SAMPLES = Path(__file__).parents[2] / "data" / "samples"
CORPUS = Path(__file__).parent / "corpus"

# The first byte of an input chooses among these.
_SUFFIXES = (".csv", ".txt", ".csv.gz", ".zip", ".parquet", ".xlsx", ".json")


@cache
def small_dataset() -> Dataset:
    return make_demo(Path(tempfile.mkdtemp()) / "demo", households=5, days=14)


def token(data: bytes) -> None:
    """A link: as it is, or as what it would unpack to."""
    body = base64.urlsafe_b64encode(zlib.compress(data)).decode().rstrip("=")
    for text in (data.decode(errors="replace"), f"1-{body}"):
        for read in (
            RunConfig.from_token,
            lambda text: ViewState.from_token(text, small_dataset()),
        ):
            try:
                found = read(text)
            except InputError as error:
                assert 0 < len(str(error)) < 2000
            else:
                config = found if isinstance(found, RunConfig) else found.config
                assert RunConfig.from_json(config.to_json()) == config


def session(data: bytes) -> None:
    """A session file."""
    try:
        saved = read_session(data, small_dataset())
    except InputError as error:
        assert 0 < len(str(error)) < 2000
        return
    again = write_session(
        saved.view, saved.notes, small_dataset(), worklist=saved.worklist, groups=saved.groups
    )
    found = read_session(again, small_dataset())
    assert (found.view, found.notes) == (saved.view, saved.notes)
    assert (found.worklist.flags, found.groups) == (saved.worklist.flags, saved.groups)


def message(data: bytes) -> None:
    """The content of a message of a page, applied to a document as the server does."""
    from bokeh.document import Document
    from bokeh.models import ColumnDataSource, Div, Slider

    models = {"s": Slider(), "d": Div(), "c": ColumnDataSource()}
    text = data.decode(errors="replace")
    for name, model in models.items():
        text = text.replace(f'"id": "{name}"', f'"id": "{model.id}"')
    try:
        MessageSize().add(text)
        content = json.loads(text)
        check_content(content)
    except (RefusedMessageError, ValueError, RecursionError):
        return
    document = Document()
    for model in models.values():
        document.add_root(model)
    # The server answers errors with an error; time and memory are what counts here.
    with warnings.catch_warnings(), suppress(Exception):
        warnings.simplefilter("ignore")
        document.apply_json_patch(content)


def readings(data: bytes) -> None:
    """A file of readings of any kind."""
    suffix = _SUFFIXES[data[0] % len(_SUFFIXES)] if data else ".csv"
    content = gzip.compress(data[1:]) if suffix == ".csv.gz" else data[1:]
    folder = Path(tempfile.mkdtemp())
    try:
        file = folder / f"file{suffix}"
        file.write_bytes(content)
        try:
            dataset = ingest([file], folder / "dataset", threads=1)
        except InputError as error:
            assert 0 < len(str(error)) < 2000
            assert [path.name for path in folder.iterdir()] == [file.name]
        else:
            accounts = dataset.households[["input", "accepted", "collapsed", "rejected"]].sum()
            assert accounts["input"] == accounts[["accepted", "collapsed", "rejected"]].sum()
            dataset.verify()
    finally:
        shutil.rmtree(folder)


def small_tables(data: bytes) -> None:
    """A table beside the readings: worklist, groups, temperatures or metadata."""
    suffix, read = _TABLES[data[0] % len(_TABLES)] if data else _TABLES[0]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"file{suffix}"
        file.write_bytes(data[1:])
        try:
            found = read(file)
        except InputError as error:
            assert 0 < len(str(error)) < 2000
            return
        if isinstance(found, Worklist):
            found.save(file)
            assert read_worklist(file).flags == found.flags


def kept(data: bytes) -> None:
    """What a browser says that it has kept of notes, flags and groups."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return
    if not isinstance(content, dict):
        return
    with suppress(InputError):
        check_notes(content.get("notes", {}))
    flagged, groups = FlaggedHomes(small_dataset()), SavedGroups()
    flagged.take_in(content.get("flagged"))
    with suppress(InputError):
        groups.merge(check_groups(content.get("groups", {}), small_dataset()))
    flagged.cases_csv(None).encode()
    json.dumps([flagged.to_json(), groups.groups], ensure_ascii=False).encode()


def _groups(file: Path) -> object:
    return read_groups(file, small_dataset())


def _metadata(file: Path) -> object:
    return read_metadata(file, small_dataset().households["household"].tolist())


# The first byte of an input chooses among these.
_TABLES: tuple[tuple[str, Callable[[Path], object]], ...] = (
    (".json", read_worklist), (".json", _groups), (".csv", _groups), (".csv", read_weather),
    (".csv.gz", read_weather), (".parquet", read_weather), (".csv", _metadata),
    (".parquet", _metadata),
)  # fmt: skip


TARGETS: dict[str, Callable[[bytes], None]] = {
    "token": token,
    "session": session,
    "message": message,
    "readings": readings,
    "small_tables": small_tables,
    "kept": kept,
}


def seeds(name: str) -> Iterator[bytes]:
    """Inputs to begin with: those that are right, and what was found before."""
    config = RunConfig(unit="slots", household="1003", method="umap", seed=5)
    homes = small_dataset().households["household"].tolist()
    flags = Worklist().flag(homes[0], "theft", note="n", by="b", at="2024-05-03T09:30:00+00:00")
    view = ViewState(config=config, selected=7, pins=(1, 4), chosen=(2, 3), ranges=(0, 1, 0, 1))
    if name == "token":
        yield json.dumps(config.changed_fields()).encode()
        link = {"data": small_dataset().digest[:12], "config": {"unit": "slots", "household": 2}}
        yield json.dumps({**link, "pins": [1], "chosen": [0, 2], "ranges": [0, 1, 0, 1]}).encode()
        yield config.to_token().encode()
    elif name == "session":
        yield write_session(view, {"1001": "note"}, small_dataset())
        yield write_session(
            ViewState(config=RunConfig()), {}, small_dataset(), worklist=flags,
            groups={"flats": tuple(homes[:2])},
        )  # fmt: skip
    elif name == "message":
        buffer = {"type": "bytes", "data": {"id": "x"}}
        array = {"type": "ndarray", "array": buffer, "dtype": "float64", "shape": [2]}
        change = {"kind": "ModelChanged", "model": {"id": "s"}, "attr": "value"}
        for new in (3, {"type": "number", "value": "nan"}, {"type": "map", "entries": [[1, 2]]},
                    {"type": "object", "name": "Div", "id": "e", "attributes": {"text": "x"}},
                    {**array, "order": "little"}, {"type": "set", "entries": [1]}):  # fmt: skip
            yield json.dumps({"events": [{**change, "new": new}]}).encode()
        patch = {"kind": "ColumnsPatched", "model": {"id": "c"}, "attr": "data"}
        yield json.dumps({"events": [{**patch, "patches": {"x": [[0, 1]]}}]}).encode()
        sent = {"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": {"type": "event"}}
        yield json.dumps({"events": [sent, {"kind": "RootAdded", "model": {"id": "s"}}]}).encode()
    elif name == "small_tables":
        yield b"\0" + json.dumps(flags.to_json()).encode()
        yield b"\1" + json.dumps({"flats": homes[:3], "houses": homes[3:]}).encode()
        rows = "".join(f"{home},flat,{row}\n" for row, home in enumerate(homes))
        yield f"\2household,group,note\n{rows}".encode()
        weather = b"time,temperature\n2013-01-01 00:00,5.5\n2013-01-02,-1\n"
        yield b"\3" + weather
        yield b"\4" + gzip.compress(weather)
        yield b"\6" + f"household,dwelling,rooms\n{rows}".encode()
        parquet = (SAMPLES / "quarter-hours.parquet").read_bytes()
        yield from (b"\5" + parquet, b"\7" + parquet)
    elif name == "kept":
        said = {"worklist": flags.to_json(), "by": "b", "price": "£0.30"}
        told = {"notes": {"1001": "note"}, "flagged": said, "groups": {"flats": homes[:2]}}
        yield json.dumps(told).encode()
    else:
        for file in sorted(SAMPLES.iterdir()):
            kinds = [number for number, end in enumerate(_SUFFIXES) if file.name.endswith(end)]
            if kinds:
                content = file.read_bytes()
                packed = file.suffix == ".gz"
                content = gzip.decompress(content) if packed else content
                is_text = packed or file.suffix in (".csv", ".txt")
                yield bytes([kinds[-1]]) + (content[:3000] if is_text else content)
    if (CORPUS / name).is_dir():
        for file in sorted((CORPUS / name).iterdir()):
            yield file.read_bytes()
