"""The rooms of the house: who may import whom."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def room(module: str) -> str:
    """The package or top-level module that a dotted name belongs to, such as ``core.cube``."""
    return ".".join(module.split(".")[:2])


def imports_of(path: Path) -> set[str]:
    """Full names of what a file imports from the two packages, wherever in the file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


IMPORTS = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): imports_of(
        path
    )
    for package in ("core", "dashboard")
    for path in (ROOT / package).rglob("*.py")
}
ROOMS: dict[str, set[str]] = {}
for _module, _names in IMPORTS.items():
    ROOMS.setdefault(room(_module), set()).update(
        room(name) for name in _names if name.startswith(("core.", "dashboard."))
    )


def test_imports_are_found():
    assert "core.cube" in ROOMS["core.vectors"]
    assert "dashboard.jobs" in ROOMS["dashboard.server"]


@pytest.mark.parametrize("name", sorted(ROOMS))
def test_no_room_leads_back_to_itself(name):
    reached, waiting = set(), [name]
    while waiting:
        for other in ROOMS.get(waiting.pop(), set()) - reached - {name}:
            reached.add(other)
            waiting.append(other)
    back = {other for other in reached if name in ROOMS.get(other, set())}
    assert not back, f"{name} is imported again by {', '.join(sorted(back))}"


def test_only_the_command_line_imports_commands():
    users = {
        module
        for module, names in IMPORTS.items()
        if any(room(name) == "core.commands" for name in names)
    }
    allowed = {"core.cli", "dashboard.cli", "dashboard.server.serve"}
    assert {module for module in users if room(module) != "core.commands"} <= allowed


def test_core_knows_nothing_of_the_page():
    for module, names in IMPORTS.items():
        if module.startswith("core"):
            roots = {name.split(".")[0] for name in names}
            assert not roots & {"dashboard", "panel", "panel_material_ui"}, module


def test_private_modules_stay_in_their_package():
    for module, names in IMPORTS.items():
        for name in names:
            parts = name.split(".")
            if parts[0] not in ("core", "dashboard"):
                continue
            private = [i for i, part in enumerate(parts) if i >= 2 and part.startswith("_")]
            if private and f"{'.'.join(parts[: private[0] + 1])}" in IMPORTS:
                assert room(module) == room(name), f"{module} imports {name}"


def test_one_module_decides_which_store_a_dataset_uses():
    def makes_store(path: Path) -> bool:
        calls = [
            node.func
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call)
        ]
        return any(ast.unparse(call) in ("Store", "Store.default") for call in calls)

    rooms = [path for path in (ROOT / "dashboard").rglob("*.py") if path.parent.name != "server"]
    users = [path.name for path in rooms if makes_store(path)]
    assert users == ["workspace.py"]


def own_private_names(tree: ast.AST) -> set[str]:
    """Names with an underscore that a file defines: functions, classes, variables, attributes."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
    return {name for name in found if name.startswith("_")}


# Panel describes it as the way from a component to its part in the browser.
DOCUMENTED = {"_send_msg"}


def test_no_private_part_of_a_library_is_used():
    """At most where a bug forces it; then name it here, with the issue of the library."""
    trees = {
        path: ast.parse(path.read_text(encoding="utf-8"))
        for package in ("core", "dashboard")
        for path in (ROOT / package).rglob("*.py")
    }
    own = set().union(*map(own_private_names, trees.values()))
    used = {
        f"{path.relative_to(ROOT)}: {node.attr}"
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.endswith("__")
        and node.attr not in own | DOCUMENTED
    }
    # os._exit in a worker whose server was killed: nothing else ends it whatever it is doing.
    assert used == {"dashboard/jobs/_worker.py: _exit"}


TRICKS = ("gc.callbacks", "gc.freeze", "gc.set_threshold", "gc.disable", "setswitchinterval",
          "__dict__.clear", "SelectSelector", "EpollSelector")  # fmt: skip


def test_the_server_plays_no_tricks_with_the_interpreter():
    for path in (ROOT / "dashboard").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not [trick for trick in TRICKS if trick in text], path


# Modules of Python that Windows does not have.
POSIX_ONLY = {"fcntl", "grp", "posix", "pwd", "resource", "termios"}


def test_the_library_runs_on_every_system():
    """Nothing of one system is imported with a module; a function may, where it can do without."""
    for path in (*(ROOT / "core").rglob("*.py"), *(ROOT / "wattfold").rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {alias.name for alias in node.names} | {getattr(node, "module", None)}
                assert not names & POSIX_ONLY, path
