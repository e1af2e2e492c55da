"""``sharebench compare``, ``findings``, ``catalogue`` and ``history``."""

import shutil
from dataclasses import replace
from typing import Any

import click

from app import kinds
from app.cli import common
from app.errors import UsageError
from app.workflows.compare import sides_to_compare, tried_here
from app.workflows.guide.rounds import MeasuredPlace, measured_place
from forms.comparison.report import comparison_report
from forms.comparison.summary import comparisons
from forms.findings.finding import findings_report
from forms.findings.rules import findings
from forms.stats.decision import Limits
from forms.tuning import catalogue
from forms.tuning.catalogue import CatalogueEntry, misprints_about
from forms.watch.history import history_chart, history_report
from storage.recordings import SERIES
from storage.records import Command

_NEWEST_LISTED = 20


@common.command("compare")
@click.argument("base")
@click.argument("others", nargs=-1, required=True, metavar="OTHER...")
@common.option("--again", "SERIES", "A repeat of BASE, best measured after OTHER; may be repeated.", multiple=True)
@click.option(
    "--alone", is_flag=True, help="Compare the named series alone, without those that repeat them or came before."
)
@common.verdict_options
@common.answering_options("Print the comparison as JSON; an array for several.")
def compare_command(
    context: click.Context, /, *, base: str, others: tuple[str, ...], again: tuple[str, ...], alone: bool,
    as_json: bool, **limits: float,
) -> int:  # fmt: skip
    """Compare each OTHER with BASE: faster, slower, no change or inconclusive.

    Equal series differ by themselves. By how much is estimated from the variation of the runs, from earlier equal
    series of the path, and from repeats of the base (--again); the verdict allows for it. An inconclusive verdict names
    the cheapest step that would settle it; a trial of the change, where there is a newer one, is told in its place.

    Where both have a profile of smbd (isolations, and --profile of run and diagnose), the calls that take the time come
    with it, those to blame first.

    Several OTHER stand side by side in one table. Loads are compared load point by load point; other kinds stand side
    by side without a verdict. The exit code is the comparison's own: 0: not slower; 1: slower; 3: inconclusive, or
    both have the same settings.
    """
    with common.notebook(context) as notebook:
        heads = kinds.alike(notebook, (base, *others))
        if heads[0].kind != SERIES:
            compared = kinds.compare(notebook, heads)
            common.answer_report(compared.report, as_json=as_json)
            return compared.exit_code
        sides = sides_to_compare(notebook, (base, *others), again, alone=alone)
        shown = [notebook.series(reference) for reference in (base, *others)]
    found = comparisons(sides, Limits(noise_percent=limits["noise"], margin_percent=limits["margin"]))
    common.answer_report(comparison_report(shown, found), as_json=as_json)
    return kinds.exit_code([form.comparison.verdict for form in found])


@common.command("findings")
@click.argument("series", nargs=-1, required=True, metavar="SERIES...")
@common.answering_options("Print the findings as JSON.")
def findings_command(context: click.Context, series: tuple[str, ...], as_json: bool) -> None:
    """Explain what SERIES say about a server: link, session, distance, SMB compared with FTP.

    The most serious comes first, each with its evidence and a recommendation.
    """
    with common.notebook(context) as notebook:
        found = findings([notebook.series(reference) for reference in dict.fromkeys(series)])
    common.answer_report(findings_report(found), as_json=as_json)


@common.command("catalogue")
@click.argument("name", required=False)
@common.option("--value", "VALUE", "Show how to set VALUE (default: the first to try).")
@common.option("--share", "SHARE", "Share whose section gets the line.")
@common.option("--smb-conf", "FILE", "Path of smb.conf on the server.", name="smb_conf")
@click.option("--all", "everything", is_flag=True, help="List all settings, also those that matter little today.")
@common.answering_options("Print the entries as JSON.")
def catalogue_command(context: click.Context, /, *, name: str | None, as_json: bool, **choices: Any) -> None:
    """List the settings that are worth changing on a server, or describe NAME.

    The settings are those of the server, of its clients and of the network between them, the greatest effect first.
    NAME is a setting, one of its synonyms, or words to search for in all entries.
    """
    found, value = catalogue.entries() if name is None else _named(name), choices["value"]
    if value is not None and (name is None or len(found) != 1):
        raise UsageError("--value belongs to one NAME of the catalogue; see `sharebench catalogue`")
    if as_json:
        common.answer_json(catalogue.catalogue_document(found))
    elif len(found) == 1:
        tried: tuple[str, ...] = ()
        place = MeasuredPlace()
        if common.notebook_path(context).exists():
            with common.notebook(context) as notebook:
                tried = tried_here(notebook, [found[0].name]).get(found[0].name, ())
                place = measured_place(notebook, ())
        place = replace(place, share=choices["share"] or place.share)
        text = catalogue.entry_text(
            found[0], value=value, share=place.share, conf=choices["smb_conf"] or place.conf,
            ansi=common.draws_colour(), with_command=True, now=place.now(found[0]), tried=tried,
        )  # fmt: skip
        common.answer(text.rstrip("\n"))
    else:
        shown = found if choices["everything"] or name is not None else [entry for entry in found if entry.worth_trying]
        common.answer(catalogue.list_text(shown, ansi=common.draws_colour()).rstrip("\n"))
        if len(shown) < len(found):
            common.say(f"{len(found) - len(shown)} more entries: sharebench catalogue --all")
    if name is not None and not as_json and name not in {entry.name for entry in found}:
        for misprint in misprints_about(name):
            common.answer(f"\nmisprint in {misprint.sentence}")


def _named(name: str) -> tuple[CatalogueEntry, ...]:
    try:
        return catalogue.about(name) or catalogue.search(name) or (catalogue.find(name),)
    except catalogue.UnknownEntryError as error:
        raise UsageError(f"{error} (`sharebench catalogue --all` lists all)") from error


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
    from app.workflows import watch  # noqa: PLC0415  it loads what measures

    with common.notebook(context) as notebook:
        for mark, on in (("new_normal", True), ("undo_normal", False)):
            if choices[mark]:
                notebook.set_new_normal(notebook.resolve(choices[mark]), on=on)
        most = watch.MOST_KEPT if file_name or as_json else watch.MOST_SHOWN
        if "://" in name or name.startswith("@"):
            from app.cli.run_options import settled_url  # noqa: PLC0415  a recording's history does not wait for clients
            from app.clients.base import check_client_name  # noqa: PLC0415  as above
            from app.targets import parse_target  # noqa: PLC0415  as above

            target = parse_target(settled_url(name)[0])
            command, client = Command(choices["command"]), check_client_name(target.protocol, choices["client"])
            history = watch.history_of_target(notebook, target, command, client, most=most)
        else:
            history = watch.history_of_recording(notebook, name, most=most)
    if file_name:
        from app.cli.commands.export import write_forms  # noqa: PLC0415  slow to load

        write_forms(file_name, None, lambda: [history_report(history)], force=choices["force"])
        return
    common.answer_report(history_report(history, newest=None if as_json else _NEWEST_LISTED), as_json=as_json)
    if not as_json:
        from app.charts.series_charts import curve_chart as drawn  # noqa: PLC0415  plotext is slow to load

        width = shutil.get_terminal_size().columns
        for line in history.lines:
            common.answer(drawn(history_chart(line, history), width, common.CHART_LINES, colour=common.draws_colour()))
