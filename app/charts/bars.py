"""Horizontal bars, one a run, for terminals with few lines."""

from collections.abc import Sequence

from app.charts.canvas import wrapped
from app.charts.marks import AVERAGE, figure, run_mark
from app.charts.terminal import ascii_only
from forms import wording
from forms.report import FAR_ABOVE
from forms.series.summary import RunRow, SeriesSummary
from forms.wording import byte_rate, link_rate

_EIGHTHS = " ▏▎▍▌▋▊▉█"


def bars_chart(summary: SeriesSummary, width: int, height: int, *, colour: bool) -> str:
    """The last runs that fit; ``│`` marks the average."""
    rows = [row for row in summary.all_rows if row.measures.bytes_per_second]
    top = max(row.measures.bytes_per_second or 0.0 for row in rows)
    link = (summary.series.link_bits_per_second or 0) / 8
    full = link if top < link <= FAR_ABOVE * top else top
    average = summary.average_rate
    said = [] if average is None else [f"{'|' if ascii_only() else '│'} average {wording.rate(average)}"]
    said.append(f"bars: 0 to {byte_rate(full)}, the link" if full == link else f"bars: 0 to {wording.rate(full)}")
    if link and full != link:
        said.append(f"link {link_rate(summary.series.link_bits_per_second)}")
    shown, legend = rows, wrapped([*said, *_signs(rows)], width)
    if len(rows) + len(legend) > height:
        shown = rows[-max(1, height - min(len(legend), max(1, height // 3))) :]
        left_out = [f"the last {len(shown)} of {len(rows)} runs"]
        legend = wrapped([*left_out, *said, *_signs(shown)], width)[: max(1, height - len(shown))]
    values = [figure(row.measures.bytes_per_second or 0.0, top, aligned=True) for row in shown]
    names = [row.label + run_mark(row)[2] for row in shown]
    left, right = max(map(len, names)), max(map(len, values))
    inside = max(1, width - left - right - 2)
    at = None if average is None else min(inside - 1, int(average / full * inside))
    lines = []
    for row, name, value in zip(shown, names, values, strict=True):
        drawn = bar_cells(
            (row.measures.bytes_per_second or 0.0) / full, inside, at, run_mark(row)[1] if colour else None
        )
        lines.append(f"{name.ljust(left)} {drawn} {value.rjust(right)}")
    return "\n".join([*lines, *("   ".join(parts)[:width] for parts in legend)])


def _signs(rows: Sequence[RunRow]) -> list[str]:
    return sorted({run_mark(row)[3] for row in rows} - {"run"})


def bar_cells(share: float, width: int, mark_at: int | None = None, colour: int | None = None) -> str:
    """A bar of ``share`` of the width in eighths of a cell, with a mark at one cell unless the bar ends in it."""
    filled = max(0.0, min(1.0, share)) * width
    if ascii_only():
        cells = list(("#" * round(filled)).ljust(width))
    else:
        full, rest = divmod(round(filled * 8), 8)
        cells = list(("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(width))
    if mark_at is None or (cells[mark_at] != " " and "".join(cells[mark_at + 1 : mark_at + 2]).strip() == ""):
        return _painted("".join(cells), colour)
    line = _painted("|" if ascii_only() else "│", None if colour is None else AVERAGE)
    return _painted("".join(cells[:mark_at]), colour) + line + _painted("".join(cells[mark_at + 1 :]), colour)


def _painted(text: str, colour: int | None) -> str:
    return text if colour is None else f"\x1b[38;5;{colour}m{text}\x1b[0m"


def bar(percent: float | None, width: int) -> str:
    """Full and light blocks; dots if the share is unknown."""
    if percent is None:
        return "·" * width
    full = round(max(0.0, min(100.0, percent)) / 100 * width)
    return "█" * full + "░" * (width - full)
