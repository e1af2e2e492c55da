"""What `sharebench quick` prints while a quick test is measured: the table, line by line."""

from app.quick import measurement, plan
from app.recording.process import Warned
from forms import wording
from forms.quick.report import file_text
from forms.quick.summary import line_figures
from storage.quick.records import Quick, QuickLine


def progress_line(event: measurement.QuickEvent, host: str = "") -> str:
    """What is printed of an event; empty for nothing. ``host``: which of several machines measures it."""
    if host and isinstance(event, Warned):
        return f"sharebench: {host}: {event.text}"
    text = _text_of(event)
    return f"{host}: {text.strip()}" if host and text else text


def _text_of(event: measurement.QuickEvent) -> str:
    match event:
        case measurement.QuickOpened(quick=quick):
            return f"quick test {quick.id}: making the file …"
        case measurement.QuickChanged(quick=quick, line=None):
            return f"  file of {file_text(quick)}"
        case measurement.QuickChanged(quick=quick, line=line) if line is not None:
            return f"  {line_text(quick, line)}"
        case Warned(text=text):
            return f"sharebench: {text}"
    return ""


def status_text(event: plan.LineBegan) -> str:
    """What is measured now: ``3 of 8: RND4K Q32T1 read …``."""
    return f"{event.number} of {event.of}: {event.line.quoted_name} …"


def line_text(quick: Quick, line: QuickLine) -> str:
    """``SEQ1M Q8T1 read    112.3 MB/s      107 IOPS    74.7 ms``."""
    figures = line_figures(quick, line)
    if figures is None:
        return f"{line.quoted_name}: nothing was measured"

    rate = wording.megabytes(figures.bytes_per_second)
    request_milliseconds = 1000 * (figures.request_seconds or 0.0)
    return (
        f"{line.quoted_name:<17} {rate:>9,.1f} MB/s {figures.operations_per_second:>11,.0f} IOPS"
        f" {wording.cell_milliseconds(request_milliseconds):>9} ms"
    )
