"""The file of Prometheus text that --textfile names: what was measured, or zeros where nothing could be."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from app.base.errors import SharebenchError, UsageError

if TYPE_CHECKING:
    from forms.watch.metrics import MetricSample


def write_textfile(file_name: str | None, make_samples: "Callable[[], list[MetricSample]]") -> None:
    """Write the samples, whole or not at all; nothing without a file name. Raises CannotWriteError."""
    if not file_name:
        return

    from app.base.output import output_file
    from forms.watch.metrics import prometheus_text

    with output_file(Path(file_name)) as file:
        file.write(prometheus_text(make_samples()))


@contextmanager
def zeros_if_it_fails(file_name: str | None, make_zeros: "Callable[[], list[MetricSample]]") -> Iterator[None]:
    """Inside it is measured: where that fails, these samples are written, and the error is passed on.

    Of a UsageError they are not written: nobody tried to measure.
    """
    try:
        yield
    except UsageError:
        raise
    except SharebenchError:
        write_textfile(file_name, make_zeros)
        raise
