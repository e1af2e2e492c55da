"""Horizontal bars, one a run, with the value beside it: what a chart is where there are few lines."""

from app.charts.canvas import wrapped
from app.charts.marks import AVERAGE, figure, run_mark
from app.charts.terminal import ascii_only
from forms.numbers import byte_rate, link_rate
from forms.report import FAR_ABOVE
from forms.series.summary import SeriesSummary

_EIGHTHS = " ▏▎▍▌▋▊▉█"


def bars_chart(summary: SeriesSummary, width: int, height: int, *, colour: bool) -> str:
    """The last runs that fit, each as a bar from 0; ``│`` stands where the average is."""
    rows = [row for row in summary.all_rows if row.measures.bytes_per_second]
    top = max(row.measures.bytes_per_second or 0.0 for row in rows)
    link = (summary.series.link_bits_per_second or 0) / 8
    full = link if top < link <= FAR_ABOVE * top else top
    average = summary.average_rate
    said = [f"bars: 0 to {byte_rate(full)}" + (", the link" if full == link else "")]
    if average is not None:
        said.append(f"{'|' if ascii_only() else '│'} average {byte_rate(average)}")
    if link and full != link:
        said.append(f"link {link_rate(summary.series.link_bits_per_second)}")
    shown = rows[-max(1, height - 1) :]
    if len(shown) < len(rows):
        said.insert(0, f"the last {len(shown)} of {len(rows)} runs")
    said += sorted({run_mark(row)[3] for row in shown} - {"run"})
    legend = ["   ".join(line)[:width] for line in wrapped(said, width)][: max(1, height - len(shown))]
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
    return "\n".join([*lines, *legend])


def bar_cells(share: float, width: int, mark_at: int | None = None, colour: int | None = None) -> str:
    """A bar of ``share`` of the width in eighths of a cell; with a line at one cell where the bar does not reach it."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    full, rest = divmod(eighths, 8)
    if ascii_only():
        cells = list("#" * round(eighths / 8) + " " * (width - round(eighths / 8)))
    else:
        cells = list(("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(width))
    styled = "".join(cells)
    line = "|" if ascii_only() else "│"
    if mark_at is not None and cells[mark_at] == " ":
        before, after = styled[:mark_at], styled[mark_at + 1 :]
        return _painted(before, colour) + _painted(line, AVERAGE if colour is not None else None) + after
    return _painted(styled, colour)


def _painted(text: str, colour: int | None) -> str:
    return text if colour is None else f"\x1b[38;5;{colour}m{text}\x1b[0m"


def bar(percent: float | None, width: int) -> str:
    """Full and light blocks, ``width`` columns in all; dots where the share is unknown."""
    if percent is None:
        return "·" * width
    full = round(max(0.0, min(100.0, percent)) / 100 * width)
    return "█" * full + "░" * (width - full)
