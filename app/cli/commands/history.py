"""``sharebench history``: all recordings of one path over time."""

import shutil
from collections.abc import Mapping
from typing import Any

import click

from app.cli import console, declare, notebooks
from forms.report import Report
from forms.watch.history import History
from forms.watch.history_chart import history_chart
from forms.watch.history_report import history_report
from storage.notebook import Notebook
from storage.records import Command

_NEWEST_LISTED = 20


@declare.command("history")
@click.argument("name", metavar="TARGET|RECORDING|EXPERIMENT")
@click.option("--get", "command", flag_value="get", default="get", help="With a TARGET: reads (default).")
@click.option("--put", "command", flag_value="put", help="With a TARGET: writes.")
@click.option("--client", metavar="NAME", default="", help="With a TARGET: what this client measured.")
@declare.option("--new-normal", "RECORDING", "Take the level from RECORDING on as normal; nothing earlier counts.")
@click.option("--undo-normal", metavar="RECORDING", help="Remove that mark from RECORDING.")
@click.option(
    "-o", "--output", "file_name", metavar="FILE", help="Write the whole history to FILE; its name says the format."
)
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@declare.answering_options("Print the history as JSON.")
def history_command(context: click.Context, /, name: str, file_name: str | None, as_json: bool, **choices: Any) -> None:
    """Show all recordings of one path over time, and when its level changed.

    Name a TARGET, or any recording of the path: a series, load, watch, trial or experiment. The points of a load
    are shown by their number of users. Levels end at recorded changes, at differences in settings or session, at a
    confirmed slowdown or speed-up, and where you say --new-normal.
    """
    from app.watch import history as watch

    with notebooks.open_notebook(context) as notebook:
        if choices["new_normal"]:
            notebook.set_new_normal(notebook.resolve(choices["new_normal"]), on=True)
        if choices["undo_normal"]:
            notebook.set_new_normal(notebook.resolve(choices["undo_normal"]), on=False)

        most = watch.MOST_KEPT if file_name or as_json else watch.MOST_SHOWN
        if "://" in name or name.startswith("@"):
            history = _history_of_target(notebook, name, choices, most)
        else:
            history = watch.history_of_recording(notebook, name, most=most)

    if file_name:
        from app.cli.form_files import write_forms

        def reports() -> list[Report]:
            return [history_report(history)]

        write_forms(file_name, None, reports, force=choices["force"])
        return

    console.answer_report(history_report(history, newest=None if as_json else _NEWEST_LISTED), as_json=as_json)
    if not as_json:
        _draw_charts(history)


def _history_of_target(notebook: Notebook, name: str, choices: Mapping[str, Any], most: int) -> History:
    from app.base.targets import parse_target
    from app.cli.targets import settled_url
    from app.clients.registry import check_client_name
    from app.watch import history as watch

    url, _ = settled_url(name)
    target = parse_target(url)
    command = Command(choices["command"])
    client = check_client_name(target.protocol, choices["client"])
    return watch.history_of_target(notebook, target, command, client, most=most)


def _draw_charts(history: History) -> None:
    from app.charts.series_charts import curve_chart

    width = shutil.get_terminal_size().columns
    colour = console.draws_colour()
    for line in history.lines:
        console.answer(curve_chart(history_chart(line, history), width, console.CHART_LINES, colour=colour))
