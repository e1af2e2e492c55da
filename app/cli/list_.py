"""``sharebench list``: the notebook, one line a series."""

from __future__ import annotations

import click

from app.cli import common
from app.targets import format_target
from forms.numbers import ABSENT, byte_rate, percent, printable
from storage.records import Series


@click.command("list", short_help="the notebook, one line a series")
@click.option("--limit", type=click.IntRange(1), help="The newest N only.", metavar="N")
@click.option("--experiment", metavar="NAME", help="One experiment's series only.")
@click.option("--json", "as_json", is_flag=True, help="An array of series documents.")
@common.options_of_all
@click.pass_context
def list_command(context: click.Context, limit: int | None, experiment: str | None, as_json: bool) -> None:
    """Lists the series of the notebook, newest first."""
    with common.notebook(context) as notebook:
        heads = [s for s in notebook.heads() if experiment is None or s.experiment == experiment][:limit]
        if as_json:
            from forms.series_document import series_document  # noqa: PLC0415

            common.answer_json([series_document(notebook.series(head.id)) for head in heads])
            return
        runs = notebook.runs_of(head.id for head in heads)
        names: dict[str, str] = {}
        for baseline in notebook.baselines():
            names[baseline.series_id] = " ".join(filter(None, (names.get(baseline.series_id), baseline.name)))
    if not heads:
        common.say("the notebook is empty; measure something with: sharebench run TARGET")
        return
    from dataclasses import replace  # noqa: PLC0415

    rows = [_row(replace(head, runs=runs[head.id]), names.get(head.id, "")) for head in heads]
    _table(("id", "when (UTC)", "status", "get/put", "runs", "average", "dev %", "% link", "baseline", "what"), rows)


def _row(series: Series, baseline: str) -> tuple[str, ...]:
    from forms.statistics import deviation_percent, mean  # noqa: PLC0415

    rates = [run.bytes_per_second for run in series.measured() if run.bytes_per_second]
    average = mean(rates)
    link = series.link_bits_per_second
    what = series.label or format_target(series.target)
    return (
        series.id,
        series.created_at[:16].replace("T", " "),
        series.status.value,
        series.command.value,
        str(len(rates)),
        byte_rate(average),
        percent(deviation_percent(rates)),
        percent(800 * average / link) if average and link else ABSENT,
        printable(baseline),
        printable(what),
    )


def _table(heading: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    widths = [max(len(row[i]) for row in [heading, *rows]) for i in range(len(heading))]
    numbers = {4, 5, 6, 7}
    for row in [heading, *rows]:
        cells = [
            cell.rjust(width) if i in numbers else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        common.answer("  ".join(cells).rstrip())
