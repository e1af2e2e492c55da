"""Pattern, colour, sign and name of each kind of run and line."""

from app.charts.canvas import Canvas, Pattern
from forms import wording
from forms.report import FAR_ABOVE
from forms.series.summary import RunRow, SeriesSummary
from storage.records import Phase, RunStatus

RUN, WARM_UP, UNUSUAL, BAD, AVERAGE, BAND, LINK, EXPECTED, INTERVAL = 12, 8, 11, 9, 14, 6, 13, 10, 14
"""ANSI colours; red and yellow only for bad and unusual. Marks also differ by pattern or sign."""


def run_mark(row: RunRow) -> tuple[Pattern, int, str, str]:
    """Pattern, colour, sign beside the label, and name in the legend."""
    if row.status is RunStatus.REJECTED:
        return Pattern.LOOSE, BAD, "×", "× rejected"
    if row.status is RunStatus.FAILED:
        return Pattern.LOOSE, BAD, "!", "! failed"
    if row.phase is Phase.WARM_UP:
        return Pattern.SOLID, WARM_UP, "", "W warm-up"
    if row.unusual:
        return Pattern.SOLID, UNUSUAL, "◆", "◆ unusual"
    return Pattern.SOLID, RUN, "", "run"


def figure(rate: float, unit_of: float, *, aligned: bool = False) -> str:
    """A rate without its unit, in the unit of ``unit_of``; ``aligned`` keeps its decimals."""
    factor = next((factor for factor in (10**12, 10**9, 10**6, 10**3) if unit_of >= factor), 1)
    if aligned:
        return f"{rate / factor:,.{max(0, 4 - len(f'{unit_of / factor:.0f}'))}f}"
    return f"{rate / factor:,.4g}"


def draw_run(canvas: Canvas, row: RunRow, place: float) -> None:
    """A dash with label and value below the axis; a failed run has only its label."""
    pattern, colour, sign, name = run_mark(row)
    rate = row.measures.bytes_per_second
    top = max(canvas.rates)
    canvas.labels.append((place, row.label + sign, figure(rate, top, aligned=True) if rate else ""))
    if rate is not None:
        canvas.dash(pattern, colour, rate, place, name)
    elif name not in canvas.notes:
        canvas.notes.append(name)


def draw_link(canvas: Canvas, link_bits_per_second: int | None, name: str) -> None:
    """The link speed; only its name if it is far above the data."""
    if not link_bits_per_second:
        return
    rate = link_bits_per_second / 8
    if rate <= FAR_ABOVE * max(canvas.rates) and not canvas.zoomed:
        canvas.level(Pattern.DASHED, LINK, rate, name, f"link {figure(rate, max(canvas.rates))}")
    else:
        canvas.notes.append(f"{name}, above the chart")


def draw_average(canvas: Canvas, summary: SeriesSummary, across: tuple[float, float], side: str = "") -> None:
    """Average and deviation as lines; ``side`` distinguishes several averages."""
    average = summary.average_rate
    if average is None:
        return
    if summary.deviation_rate:
        for rate in summary.band or ():
            canvas.stretch(Pattern.SPARSE, BAND, rate, across, "one deviation")
    number = f"{side or 'average'} {figure(average, max(canvas.rates), aligned=True)}"
    name = f"{side} average {wording.rate(average)}".lstrip()
    canvas.stretch(Pattern.DOTTED, AVERAGE, average, across, name, number)
