"""The one-way pipeline as a picture: ``python docs/pipeline_picture.py`` writes it."""

from dataclasses import dataclass
from html import escape
from pathlib import Path

PICTURE = Path(__file__).parent / "images" / "pipeline.svg"

_WIDTH, _HEIGHT, _GAP = 150, 62, 46
_COLUMNS = 4


@dataclass(frozen=True)
class Stage:
    """One box: what comes out, which module makes it, and what it depends on besides its input."""

    name: str
    module: str
    choices: str


STAGES = (
    Stage("readings", "core.readings", "format, stamp, time zone"),
    Stage("cube", "core.cube", "bins, reference"),
    Stage("vectors", "core.vectors", "unit, window, distance"),
    Stage("neighbours", "core.neighbors", "backend, K, ε or n_trees"),
    Stage("embedding", "core.embedding", "method, dimensions, seed"),
    Stage("density", "core.density", "rank by, anomalies"),
    Stage("views", "dashboard, core.figures", "colour, layers, layout"),
)


def draw() -> str:
    """Return the picture as SVG."""
    columns, rows = _COLUMNS, -(-len(STAGES) // _COLUMNS)
    wide = columns * _WIDTH + (columns - 1) * _GAP + 60
    high = rows * (_HEIGHT + 34) + (rows - 1) * 24 + 34
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" '
        f'height="{high}" font-family="sans-serif" role="img">',
        f"<title>{escape(' to '.join(stage.name for stage in STAGES))}</title>",
        f'<rect width="{wide}" height="{high}" fill="#ffffff"/>',
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 10 5 0 10z" fill="#5b6670"/></marker></defs>',
    ]
    for number, stage in enumerate(STAGES):
        x, y = _place(number)
        parts += _box(stage, x, y)
        if number + 1 < len(STAGES):
            parts.append(_arrow((x, y), _place(number + 1)))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _place(number: int) -> tuple[int, int]:
    row, column = divmod(number, _COLUMNS)
    return 30 + column * (_WIDTH + _GAP), 20 + row * (_HEIGHT + 58)


def _box(stage: Stage, x: int, y: int) -> list[str]:
    middle = x + _WIDTH // 2
    return [
        f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="8" fill="#fff4d6" '
        'stroke="#b06a00"/>',
        f'<text x="{middle}" y="{y + 27}" text-anchor="middle" font-size="16" '
        f'font-weight="bold" fill="#1d252c">{escape(stage.name)}</text>',
        f'<text x="{middle}" y="{y + 47}" text-anchor="middle" font-size="11.5" '
        f'fill="#3d4852">{escape(stage.module)}</text>',
        f'<text x="{middle}" y="{y + _HEIGHT + 17}" text-anchor="middle" font-size="11.5" '
        f'font-style="italic" fill="#5b6670">{escape(stage.choices)}</text>',
    ]


def _arrow(start: tuple[int, int], end: tuple[int, int]) -> str:
    """Straight along a row; from the end of one row to the start of the next, around the text."""
    (x0, y0), (x1, y1) = start, end
    style = 'fill="none" stroke="#5b6670" stroke-width="1.6" marker-end="url(#tip)"'
    if y0 == y1:
        return f'<path d="M{x0 + _WIDTH + 3} {y0 + _HEIGHT // 2}H{x1 - 3}" {style}/>'
    turn = y0 + _HEIGHT + 36
    return (
        f'<path d="M{x0 + _WIDTH + 2} {y0 + _HEIGHT // 2}h10V{turn}H{x1 - 18}V{y1 + _HEIGHT // 2}'
        f'h15" {style}/>'
    )


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(draw(), encoding="utf-8")
