"""``sharebench history``: all recordings of one path over time."""

import shutil
from typing import Any

import click

from app.cli import common
from forms.watch.history_report import history_chart, history_report
from storage.records import Command

_NEWEST_LISTED = 20


@common.command("history")
@click.argument("name", metavar="TARGET|RECORDING|EXPERIMENT")
@click.option("--get", "command", flag_value="get", default="get", help="With a TARGET: reads (default).")
@click.option("--put", "command", flag_value="put", help="With a TARGET: writes.")
@click.option("--client", metavar="NAME", default="", help="With a TARGET: what this client measured.")
@common.option("--new-normal", "RECORDING", "Take the level from RECORDING on as normal; nothing earlier counts.")
@click.option("--undo-normal", metavar="RECORDING", help="Remove that mark from RECORDING.")
@click.option(
    "-o", "--output", "file_name", metavar="FILE", help="Write the whole history to FILE; its name says the format."
)
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@common.answering_options("Print the history as JSON.")
def history_command(context: click.Context, /, name: str, file_name: str | None, as_json: bool, **choices: Any) -> None:
    """Show all recordings of one path over time, and when its level changed.

    Name a TARGET, or any recording of the path: a series, load, watch, trial or experiment. The points of a load
    are shown by their number of users. Levels end at recorded changes, at differences in settings or session, at a
    confirmed slowdown or speed-up, and where you say --new-normal.
    """
    from app.watch import record as watch

    with common.notebook(context) as notebook:
        for mark, on in (("new_normal", True), ("undo_normal", False)):
            if choices[mark]:
                notebook.set_new_normal(notebook.resolve(choices[mark]), on=on)
        most = watch.MOST_KEPT if file_name or as_json else watch.MOST_SHOWN
        if "://" in name or name.startswith("@"):
            from app.base.targets import parse_target
            from app.cli.run_options import settled_url
            from app.clients.base import check_client_name

            target = parse_target(settled_url(name)[0])
            command, client = Command(choices["command"]), check_client_name(target.protocol, choices["client"])
            history = watch.history_of_target(notebook, target, command, client, most=most)
        else:
            history = watch.history_of_recording(notebook, name, most=most)
    if file_name:
        from app.cli.commands.export import write_forms

        write_forms(file_name, None, lambda: [history_report(history)], force=choices["force"])
        return
    common.answer_report(history_report(history, newest=None if as_json else _NEWEST_LISTED), as_json=as_json)
    if not as_json:
        from app.charts.series_charts import curve_chart as drawn

        width = shutil.get_terminal_size().columns
        for line in history.lines:
            common.answer(drawn(history_chart(line, history), width, common.CHART_LINES, colour=common.draws_colour()))
