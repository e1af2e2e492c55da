"""Forms as one self-contained HTML page: no script, nothing loaded, one printed page per form."""

from collections.abc import Iterator, Sequence
from html import escape

from forms.exporters.drawing import HEIGHT, WIDTH, Box, Shape, Stroke, drawing
from forms.layout import control_pictures
from forms.report import (
    SIGNS,
    Cell,
    Chart,
    Column,
    Field,
    Mark,
    Report,
    ReportKind,
    Role,
    Row,
    Table,
    cell_text,
    remark_text,
)

_COLOURS = {
    "paper": ("#ffffff", "#16181b"),
    "ink": ("#1b1b1b", "#ececec"),
    "faint": ("#595959", "#b0b0b0"),
    "line": ("#8a8a8a", "#7d7d7d"),
    "bar": ("#2f5f98", "#7fb0ea"),
    "band": ("#dfe7f1", "#28323f"),
    "level": ("#a33f00", "#ffab6b"),
    "warn": ("#8f1d1d", "#ff9d9d"),
}
"""On a light page and on a dark one."""
LIGHT, DARK = ({name: both[page] for name, both in _COLOURS.items()} for page in (0, 1))


def _variables(colours: dict[str, str]) -> str:
    return " ".join(f"--{name}: {value};" for name, value in colours.items())


STYLE = f"""
:root {{ {_variables(LIGHT)} color-scheme: light dark; }}
@media (prefers-color-scheme: dark) {{ :root {{ {_variables(DARK)} }} }}
* {{ box-sizing: border-box; }}
body {{ margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.4 system-ui, "Liberation Sans", "DejaVu Sans", sans-serif; }}
main {{ max-width: 62rem; margin: 0 auto; padding: 1.2rem; }}
article + article {{ margin-top: 2.5rem; border-top: 2px solid var(--line); padding-top: 1.5rem; }}
h1, h2 {{ font-size: 1.35rem; margin: 0 0 .7rem; overflow-wrap: anywhere; }}
dl {{ margin: .6rem 0; }}
dl div {{ display: grid; grid-template-columns: 10.5rem 1fr; gap: .8rem; padding: .1rem 0; }}
dt {{ color: var(--faint); }}
dd {{ margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }}
table {{ border-collapse: collapse; width: 100%; margin: .9rem 0; font-variant-numeric: tabular-nums; }}
caption {{ text-align: left; color: var(--faint); padding-bottom: .25rem; }}
th, td {{ padding: .22rem .55rem; text-align: right; border: 1px solid var(--line); vertical-align: top; }}
th.text, td.text {{ text-align: left; }}
thead th {{ border-bottom: 2px solid var(--ink); vertical-align: bottom; }}
tbody th {{ font-weight: normal; }}
tr.result th, tr.result td {{ font-weight: 600; }}
tbody tr:not(.result) + tr.result th, tbody tr:not(.result) + tr.result td {{ border-top: 2px solid var(--ink); }}
tr.warm-up th, tr.warm-up td {{ color: var(--faint); font-style: italic; }}
tr.rejected th, tr.rejected td, tr.restored th, tr.restored td, tr.failed th, tr.failed td {{ color: var(--warn); }}
tr.unusual th, tr.unusual td:not(.remark) {{ font-weight: 600; }}
tr.bottleneck th, tr.bottleneck td {{ font-weight: 700; }}
td.remark {{ overflow-wrap: anywhere; }}
figure {{ margin: 1rem 0 0; }}
svg {{ width: 100%; height: auto; display: block; }}
svg text {{ fill: var(--ink); font-size: 12px; }}
svg text.sign {{ font-size: 15px; font-weight: 700;
  paint-order: stroke; stroke: var(--paper); stroke-width: 4px; }}
svg .grid {{ stroke: var(--line); stroke-width: .5; }}
svg .band {{ fill: var(--band); stroke: var(--line); stroke-width: .5; stroke-dasharray: 1 3; }}
svg .bar {{ fill: var(--bar); }}
svg .hatch {{ fill: var(--warn); }}
svg .rejected {{ stroke: var(--warn); stroke-width: 1.5; stroke-dasharray: 4 3; }}
svg .least {{ fill: var(--level); }}
svg .unusual {{ fill: var(--paper); stroke: var(--bar); stroke-width: 3; }}
svg .mean {{ stroke: var(--level); stroke-width: 2; }}
svg .reference {{ stroke: var(--ink); stroke-width: 2; stroke-dasharray: 8 4; }}
svg .curve {{ stroke: var(--bar); stroke-width: 2; }}
svg .casing {{ stroke: var(--paper); stroke-width: 4; }}
svg .whisker {{ stroke: var(--ink); stroke-width: 1.5; }}
svg .frame {{ fill: none; stroke: var(--ink); stroke-width: 1.2; }}
svg text.title {{ font-weight: 600; }}
ul {{ padding-left: 1.2rem; }}
.blank dd {{ border-bottom: 1px solid var(--line); min-height: 1.5em; }}
.blank tbody td, .blank tbody th {{ height: 2.2em; }}
@page {{ size: PAPER portrait; margin: 14mm; }}
@media print {{
  :root {{ {_variables(LIGHT)} color-scheme: light; }}
  body {{ font-size: 8.5pt; line-height: 1.25; }}
  main {{ max-width: none; padding: 0 .5mm; }}
  article, article + article {{ break-after: page; margin: 0; padding: 0; border: 0; }}
  article:last-child {{ break-after: auto; }}
  figure, tr, li, dl div {{ break-inside: avoid; }}
  thead {{ display: table-header-group; }}
  h1, h2 {{ font-size: 13pt; margin-bottom: 1mm; }}
  dl, table, ul {{ margin: 1.2mm 0; }}
  dl div {{ padding: 0; }}
  figure {{ margin: 2mm 0 0; }}
  .long figure {{ max-width: 130mm; }}
  svg text {{ font-size: 12px; }}
  .long svg text {{ font-size: 13px; }}
  th, td {{ padding: .12rem .4rem; }}
  * {{ print-color-adjust: exact; }}
}}
""".strip()


_HATCH = (
    '<defs><pattern id="hatch{number}" width="5" height="5" patternUnits="userSpaceOnUse"'
    ' patternTransform="rotate(45)"><rect width="2" height="5" class="hatch"/></pattern></defs>'
)


def render(reports: Sequence[Report], *, paper: str) -> bytes:
    """UTF-8; ``paper`` is the default for printing."""
    title = reports[0].title if len(reports) == 1 else f"{len(reports)} forms"
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{_text(title)}</title>",
        f"<style>{STYLE.replace('PAPER', paper)}</style>",
        "</head>",
        "<body>",
        "<main>",
        *(line for number, report in enumerate(reports, start=1) for line in _report(report, number)),
        "</main>",
        "</body>",
        "</html>",
    ]
    return "".join(f"{part}\n" for part in parts).encode(errors="replace")


def _text(text: str) -> str:
    return escape(control_pictures(text))


def _report(report: Report, number: int) -> Iterator[str]:
    heading = "h1" if number == 1 else "h2"
    long = sum(len(table.rows) for table in report.tables) > 24
    classes = " ".join(["form", *(["blank"] if report.blank else []), *(["long"] if long else [])])
    yield f'<article class="{classes}" aria-labelledby="form{number}">'
    yield f'<{heading} id="form{number}" dir="auto">{_text(report.title)}</{heading}>'
    yield from _fields(report.fields)
    figures = [
        f"<figure>{_svg(chart, f'{number}-{place}' if place else f'{number}')}</figure>"
        for place, chart in enumerate(report.charts)
    ]
    yield from figures if report.leads_with_charts else ()
    for table in report.tables:
        yield from _table(table, report)
    yield from _fields(report.results)
    if report.advice:
        yield "<ul>"
        yield from (f'<li dir="auto">{_text(text)}</li>' for text in report.advice)
        yield "</ul>"
    yield from () if report.leads_with_charts else figures
    yield "</article>"


def _fields(fields: Sequence[Field]) -> Iterator[str]:
    if fields:
        yield "<dl>"
        for field in fields:
            yield f'<div><dt>{_text(field.name)}</dt><dd dir="auto">{_text(field.text)}</dd></div>'
        yield "</dl>"


def _table(table: Table, report: Report) -> Iterator[str]:
    remarks = table.marked and any(row.mark is not Mark.NONE for row in table.rows)
    yield "<table>" if table.caption else f'<table aria-label="{_text(report.form.capitalize())}">'
    if table.caption:
        yield f"<caption>{_text(table.caption)}</caption>"
    headings = [f'<th scope="col"{_align(column)}>{_text(column.heading)}</th>' for column in table.columns]
    if remarks:
        headings.append('<th scope="col" class="text">Remark</th>')
    yield f"<thead><tr>{''.join(headings)}</tr></thead>"
    yield "<tbody>"
    yield from (_row(row, table, remarks=remarks) for row in table.rows)
    yield "</tbody>"
    yield "</table>"


def _align(column: Column) -> str:
    return ' class="text"' if column.kind is ReportKind.TEXT else ""


def _row(row: Row, table: Table, *, remarks: bool) -> str:
    classes = [
        name
        for name in (row.role.value if row.role is not Role.ENTRY else "", row.mark.value.replace(" ", "-"))
        if name
    ]
    start = f'<tr class="{" ".join(classes)}">' if classes else "<tr>"
    if row.role is Role.HEADING:
        wide = f'<th scope="rowgroup" class="text" colspan="{len(table.columns) + remarks}">'
        return f"{start}{wide}{_text(row.name)}</th></tr>"
    written = [_cell(row, cell, column, first=i == 0) for i, (cell, column) in enumerate(table.cells(row))]
    if remarks:
        written.append(f'<td class="text remark" dir="auto">{_text(remark_text(row))}</td>')
    return f"{start}{''.join(written)}</tr>"


def _cell(row: Row, cell: Cell, column: Column, *, first: bool) -> str:
    text = _text(cell_text(cell, column.kind))
    if row.struck and text:
        text = f"<s>{text}</s>"
    if first:
        sign = f"{_text(SIGNS[row.mark])} " if row.mark in SIGNS else ""
        return f'<th scope="row" class="text" dir="auto">{sign}{text}</th>'
    direction = ' dir="auto"' if isinstance(cell.value, str) else ""
    return f"<td{_align(column)}{direction}>{text}</td>"


def _svg(chart: Chart, number: str) -> str:
    drawn = drawing(chart)
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="chart{number}">',
        f'<title id="chart{number}">{_text(drawn.description)}</title>',
        _HATCH.format(number=number),
        *(_element(shape, number) for shape in drawn.shapes),
        "</svg>",
    ]
    return "".join(parts)


def _element(shape: Shape, number: str) -> str:
    if isinstance(shape, Box):
        fill = f' fill="url(#hatch{number})"' if shape.look == "rejected" else ""
        place = f'x="{shape.x}" y="{shape.y}" width="{shape.width}" height="{shape.height}"'
        return f'<rect {place} class="{shape.look}"{fill}/>'
    if isinstance(shape, Stroke):
        ends = f'x1="{shape.x1}" x2="{shape.x2}" y1="{shape.y1}" y2="{shape.y2}"'
        return f'<line {ends} class="{shape.look}"/>'
    anchor = "" if shape.anchor == "start" else f' text-anchor="{shape.anchor}"'
    look = f' class="{shape.look}"' if shape.look else ""
    return f'<text x="{shape.x}" y="{shape.y}"{anchor}{look}>{_text(shape.text)}</text>'
