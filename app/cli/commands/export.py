"""``sharebench export``: forms in any format, signed or not."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from app.base.errors import UsageError
from app.cli import console, declare, exported_forms, form_files, notebooks, option_values
from app.recording.kind import KINDS
from forms import exporters
from storage.errors import did_you_mean
from storage.notebook import Notebook


@declare.command("export")
@click.argument("names", nargs=-1, metavar="[RECORDING]...")
@click.option(
    "--format",
    "formats",
    type=form_files.parse_formats,
    metavar="FORMAT",
    help=f"{', '.join(exporters.FORMATS)} (md, txt), or several with commas (default: by the name of FILE).",
)
@click.option(
    "-o",
    "--output",
    "file_name",
    metavar="FILE",
    help="File to write (default: stdout). Several formats get their own suffixes.",
)
@click.option("--all", "of_all", is_flag=True, help="Export all series of the notebook, with an overview page first.")
@click.option(
    "--print",
    "printer",
    is_flag=False,
    flag_value="",
    metavar="[PRINTER]",
    help="Print with lp, on PRINTER or the default one; with -o also to the file.",
)
@declare.option("--form", "FORM", "Form to write (see above).", click.Choice(exported_forms.FORMS), default="run")
@click.option("--blank", is_flag=True, help="Write the empty form, to fill in by hand.")
@declare.option("--link", "RATE", "With --blank: link speed on the form.", option_values.parse_rate)
@form_files.paper_option
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@click.option("--anonymous", is_flag=True, help="Leave out the names of users and domains.")
@declare.option(
    "--sign",
    "KEY",
    "Sign the JSON with this ssh key; `sharebench verify` checks it.",
    click.Path(path_type=Path),
    name="key",
)
@declare.option("--schema", "KIND", "Write the JSON Schema of a kind's documents, such as series or load.")
@declare.options_of_all
def export_command(
    context: click.Context, /, names: tuple[str, ...], formats: tuple[str, ...] | None, **choices: Any
) -> None:
    """Write the form of each RECORDING, all in one document.

    Other forms: --form comparison BASE OTHER…, --form experiment NAME, --form survey NAME, --form selftest NAME (see
    `experiment list`), and --form bottleneck NAME, --form clients NAME (saved worksheets).

    --anonymous leaves the names of users and domains out of paths, labels, notes and other texts, also inside longer
    words (a name of less than four letters only as a word of its own). What stays: hosts and addresses, shares, paths,
    labels, notes, settings of the server, and names of other people in them. Read the file before you hand it over.
    """
    if choices["schema"] is not None:
        option_values.refuse_other_options(
            context, "schema", {"schema"}, "describes documents, and exports no recording"
        )
        _answer_schema(choices["schema"])
        return

    form = choices["form"]
    blank = choices["blank"]
    if choices["anonymous"] and not blank:
        names = _without_users(context, names)
    if choices["key"] is not None:
        _check_can_be_signed(formats, choices)
        formats = ("json",)
    if choices["of_all"]:
        names = _all_series(context, names, form, blank=blank)
    exported_forms.check_names(names, form, blank=blank)

    gather = partial(exported_forms.reports_of, context, names, form, blank=blank, link=choices["link"])
    file_name = choices["file_name"]
    paper = choices["paper"]
    if choices["printer"] is not None:
        form_files.print_forms(gather(), choices["printer"], paper=paper)
        if file_name is None and formats is None:
            return

    if file_name is None or file_name == "-":
        form_files.write_to_stdout(formats or ("text",), gather, paper=paper, key=choices["key"])
        return
    form_files.write_forms(file_name, formats, gather, paper=paper, force=choices["force"], key=choices["key"])


def _answer_schema(kind_name: str) -> None:
    if kind_name not in KINDS:
        advice = f"{did_you_mean(kind_name, KINDS)}one of {', '.join(KINDS)}"
        raise UsageError(f"no kind of recording is called {kind_name!r}: {advice}")

    from app.exchange.document_schema import json_schema

    console.answer_json(json_schema(KINDS[kind_name]))


def _without_users(context: click.Context, names: tuple[str, ...]) -> tuple[str, ...]:
    """Have the command work with a copy of the notebook in memory, without users; returns the names in that copy."""
    from storage.anonymous import forget_users

    with notebooks.open_notebook(context) as notebook:
        db = notebook.database_in_memory()
    context.call_on_close(db.close)

    new_names = forget_users(db)
    context.find_root().obj[notebooks.IN_MEMORY] = Notebook(notebooks.notebook_path(context), db)
    return tuple(new_names.get(name, name) for name in names)


def _check_can_be_signed(formats: tuple[str, ...] | None, choices: Mapping[str, Any]) -> None:
    is_run_form = choices["form"] == "run" and not choices["blank"]
    is_json_file = choices["printer"] is None and formats in {None, ("json",)}
    if not is_run_form or not is_json_file:
        raise UsageError("--sign signs recordings as JSON: leave other formats, --form, --blank and --print out")


def _all_series(context: click.Context, names: tuple[str, ...], form: str, *, blank: bool) -> tuple[str, ...]:
    if names or blank or form != "run":
        raise UsageError("--all is every series: leave names, --blank and --form out")
    with notebooks.open_notebook(context) as notebook:
        ids = tuple(head.id for head in notebook.heads())
    if not ids:
        raise UsageError("the notebook is empty: measure something first: sharebench run TARGET")
    return ids
