"""``sharebench import``: recordings of documents, of filled forms, or of another notebook."""

from typing import Any

import click

from app.base import limits
from app.base.errors import UsageError
from app.base.targets import parse_target
from app.cli import console, declare, imported_notebook, notebooks, option_values
from app.cli.input_file import read_input
from app.exchange import doubts, importing, storing
from forms import wording
from forms.importers.filled_form import FormDefaults
from forms.importers.numerals import DecimalSign
from forms.isolation.document import example_documents
from storage.json_reader import DocumentError
from storage.records import Command


@declare.command("import")
@click.argument("file", type=click.Path(allow_dash=True), required=False)
@click.option("--example", is_flag=True, help="Import the two isolations of 2003 that the method comes from.")
@declare.option("--target", "TARGET", "Target measured, if the file does not say.")
@click.option("--put", "put", is_flag=True, help="The series is a put, if the file does not say.")
@declare.option("--size", "SIZE", "Size of the file measured, if the file does not say.", option_values.parse_size)
@declare.option("--link", "RATE", "Link speed, if the file does not say.", option_values.parse_rate)
@declare.option(
    "--decimal",
    "SIGN",
    "Sign before the decimals of numbers that the file leaves open, a point or a comma: 1,234 may be 1234 or 1.234.",
    click.Choice([sign.value for sign in DecimalSign]),
)
@click.option("--as-new", is_flag=True, help="Give every recording a new id.")
@declare.answering_options("Print the ids imported and those already there, as JSON.")
def import_command(context: click.Context, /, *, file: str | None, as_new: bool, as_json: bool, **choices: Any) -> None:
    """Add the recordings of FILE (- for stdin) to the notebook.

    FILE is JSON written by `export`, a run form as CSV, exported or filled in by hand, another notebook, or the text
    that CrystalDiskMark or KDiskMark saves or copies, to hold beside a quick test. It is imported whole or not at all.
    """
    defaults = FormDefaults(
        target_of=parse_target,
        command=Command.PUT if choices["put"] else Command.GET,
        target=parse_target(choices["target"]) if choices["target"] else None,
        size_bytes=choices["size"],
        link_bits_per_second=choices["link"],
        decimal_sign=DecimalSign(choices["decimal"]) if choices["decimal"] else None,
    )
    if (file is None) != choices["example"]:
        raise UsageError("name the FILE to import, or ask for the --example")

    if file is None:
        # The whole one last, so that it is the newest: the other one is a profile alone.
        examples = b"[" + b",".join(reversed(example_documents())) + b"]"
        imported = _import_documents(context, examples, defaults, "the example", as_new=as_new)
    elif imported_notebook.is_notebook(file):
        if as_new:
            raise UsageError(f"{file} is a notebook, whose recordings keep their ids: leave --as-new out")
        imported_notebook.import_notebook(context, file, as_json=as_json)
        return
    else:
        imported = _import_documents(context, read_input(file), defaults, file, as_new=as_new)

    for doubt in doubts.doubts_about(imported):
        console.say(doubt)
    if as_json:
        console.answer_json({"imported": list(imported.new), "already_there": list(imported.already_there)})
        return
    console.answer_ids(imported.new)
    console.say(f"{wording.count(len(imported.new), 'recording')} imported")
    if imported.already_there:
        console.say(f"already in the notebook, and the same: {', '.join(imported.already_there)}")


def _import_documents(
    context: click.Context, content: bytes, defaults: FormDefaults, file: str, *, as_new: bool
) -> storing.Import:
    """All or nothing. Raises UsageError."""
    try:
        with limits.limit_memory(limits.MOST_MEMORY_BYTES):
            recordings = importing.read(content, defaults)
            del content
            with notebooks.open_notebook(context, make=True) as notebook:
                return storing.store(notebook, recordings, file, as_new=as_new)
    except DocumentError as error:
        raise UsageError(f"{file} cannot be imported: {error}") from error
    except MemoryError as error:
        raise UsageError(
            f"{file} takes more than {limits.MOST_MEMORY_BYTES // 10**6} MB of memory, so nothing was imported: export"
            " fewer recordings to a file"
        ) from error
