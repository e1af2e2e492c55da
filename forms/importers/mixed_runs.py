"""Tables whose runs measured several things: an average of them all would be the speed of none.

People tell them apart by a column (``Server``, ``Operation``), or by a line above each group of runs.
"""

from collections.abc import Iterator

from forms.importers.form_lines import FilledForm
from forms.importers.form_rows import folded_heading
from forms.layout import visible
from storage import json_reader

_TELLING_HEADINGS = (
    "server host hostname nas share target ziel serveur servidor client klient protocol protokoll protocole protocolo"
    " operation op command befehl direction richtung sens access zugriff accès action aktion mode modus phase type typ"
    " kind art test cache switch disk threads streams clients users jobs blocksize blockgröße queuedepth qd mtu"
    " сервер протокол операция"
)
"""Headings of what a run measured, in small letters without blanks; any two values below one are two measurements."""

_OF_MOMENTS = (
    "date datum fecha data day tag jour weekday wochentag start begin beginn started end ende ended clock uhrzeit heure"
    " hora time zeit temps when measured"
)
"""Headings of columns that differ from run to run by their nature."""

_LONGEST_CITED = 40


def check_runs_are_alike(form: FilledForm) -> None:
    """Raises DocumentError for a table whose columns or lines tell several measurements apart."""
    if form.is_exported:
        return

    for heading, cells in _other_columns(form):
        _check_column(heading, cells)
    _check_lines_of_groups(form)


def _other_columns(form: FilledForm) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    """The printed heading, and the lines and texts of the filled cells, of each column that a form does not know."""
    for index, heading in form.other_columns():
        cells = [(line, record[index].strip()) for line, record in form.runs if index < len(record)]
        yield heading, [(line, text) for line, text in cells if text]


def _check_column(heading: str, cells: list[tuple[int, str]]) -> None:
    name = folded_heading(heading)
    values = [text.casefold() for _, text in cells]
    if len(set(values)) < 2 or name in _OF_MOMENTS.split():
        return

    # Words that come again are groups; others, such as the names of files, may be as many as there are runs.
    are_words = all(value[0].isalpha() for value in values)
    are_groups = are_words and len(set(values)) < len(values)
    if name not in _TELLING_HEADINGS.split() and not are_groups:
        return

    first_text = cells[0][1]
    line, text = next((line, text) for line, text in cells if text.casefold() != values[0])
    raise json_reader.DocumentError(
        f"line {line}: the column {_cited(heading)} has {_cited(text)} below {_cited(first_text)}, and the runs of a"
        " table are averaged: write a table for each, with headings of its own, or leave the column out"
    )


def _check_lines_of_groups(form: FilledForm) -> None:
    """Raises DocumentError where one line stands above the first run, and another one above later runs."""
    first_run = form.runs[0][0] if form.runs else 0
    texts_above = [text for line, text in form.lines_between if line < first_run]
    lines_inside = [(line, text) for line, text in form.lines_between if line > first_run]
    if not texts_above or not lines_inside:
        return

    line, text = lines_inside[0]
    raise json_reader.DocumentError(
        f"line {line}: {_cited(text)} begins other runs than {_cited(texts_above[-1])}, and the runs of a table are"
        " averaged: write a table for each, with headings of its own"
    )


def _cited(text: str) -> str:
    return repr(visible(text[:_LONGEST_CITED]))
