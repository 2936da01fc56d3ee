"""Keeps out what must not come in: code from data, shells, and user text as HTML.

ruff's security rules see most of it; what they do not see, or what a comment could silence, is
looked for here. Run by ``make check``.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]

MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "diskcache"}
CALLS = {
    *("eval", "exec", "compile", "__import__"),
    *("os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"),
    *("pd.read_pickle", "pandas.read_pickle"),
}
# What renders HTML or Markdown; text of users goes into PlainText, or Bokeh's own plain fields.
HTML = {
    *("pn.pane.HTML", "pn.pane.Markdown", "pn.pane.Str", "pn.pane.Alert", "pn.widgets.StaticText"),
    *("pmui.Typography", "pmui.Alert", "bokeh.models.Div", "Div", "Markup", "jinja2.Markup"),
}
# Looked at one by one, with the reason.
ALLOWED = {
    # JSON in which every < is written as an escape.
    ("core/study/report.py", "call of Markup"),
}
KEYWORDS = {"shell": True, "allow_pickle": True}
SCRIPT = re.compile(
    r"\.innerHTML\s*=(?!=)|\.outerHTML\s*=(?!=)|insertAdjacentHTML|document\.write|\beval\(|"
    r"new Function|dangerouslySetInnerHTML"
)
TEMPLATE = re.compile(r"\|\s*safe\b|autoescape\s*=?\s*false", re.IGNORECASE)


def name_of(node: ast.expr) -> str:
    """A dotted name, as far as it is one."""
    if isinstance(node, ast.Attribute):
        return f"{name_of(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def faults_in_python(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the kind of everything that must not be there."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = [getattr(node, "module", None) or ""]
            names = [*module, *(alias.name for alias in node.names)]
            for name in names:
                if name.partition(".")[0] in MODULES:
                    yield node.lineno, f"import of {name}"
        elif isinstance(node, ast.Call):
            name = name_of(node.func)
            constant = all(isinstance(argument, ast.Constant) for argument in node.args)
            if name in CALLS or (name in HTML and not (constant and node.args)):
                yield node.lineno, f"call of {name}"
            for keyword in node.keywords:
                value = getattr(keyword.value, "value", None)
                if keyword.arg in KEYWORDS and value is KEYWORDS[keyword.arg]:
                    yield node.lineno, f"{keyword.arg}=True"


def faults_in_text(source: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of every match."""
    for number, line in enumerate(source.splitlines(), start=1):
        for match in pattern.finditer(line):
            yield number, match[0]


def find_faults(root: Path) -> list[str]:
    """All faults of the program's own files, as ``file:line: what``."""
    found = []
    for folder in ("core", "dashboard"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix == ".py":
                faults = faults_in_python(path.read_text(encoding="utf-8"))
            elif path.suffix == ".js":
                faults = faults_in_text(path.read_text(encoding="utf-8"), SCRIPT)
            elif path.suffix in (".html", ".jinja", ".j2"):
                faults = faults_in_text(path.read_text(encoding="utf-8"), TEMPLATE)
            else:
                continue
            name = path.relative_to(root).as_posix()
            found += [
                f"{name}:{line}: {what}" for line, what in faults if (name, what) not in ALLOWED
            ]
    return found


if __name__ == "__main__":
    faults = find_faults(ROOT)
    print("\n".join(faults) or "No pickle, eval, shell or user text as HTML.")
    sys.exit(bool(faults))
