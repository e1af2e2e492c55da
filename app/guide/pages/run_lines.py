"""A run, or an average, as a line of a page's table."""

from forms import wording
from forms.layout import pad
from forms.link_share import share_cell
from forms.series import summary

NAME_CELLS = 9
_SECONDS = 9
_RATE = 13
_SHARE = 8


def measures_line(
    name: str, measures: summary.RunMeasures, form: summary.SeriesSummary, *, name_cells: int = NAME_CELLS
) -> str:
    percent = measures.percent_of_link
    share = share_cell(percent) if form.series.link_bits_per_second else ""
    rate = wording.rate(measures.bytes_per_second, beside=form.average_rate)
    return line(name, wording.cell_seconds(measures.seconds), rate, share, name_cells=name_cells)


def line(name: str, seconds: str, rate: str, share: str, *, name_cells: int = NAME_CELLS) -> str:
    """A line of the table, whose cells stand under the headings; without a share, that column is left out."""
    cells = [pad(seconds, _SECONDS, right=True), pad(rate, _RATE, right=True)]
    if share:
        cells.append(pad(share, _SHARE, right=True))
    return pad(name, name_cells) + " ".join(cells)
