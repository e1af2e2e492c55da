"""``sharebench catalogue``: what can be changed on a server."""

from dataclasses import replace
from typing import Any

import click

from app.base.errors import UsageError
from app.cli import common
from app.comparison.history import tried_here
from app.method.measured_place import MeasuredPlace, measured_place
from forms.tuning import catalogue
from forms.tuning.catalogue import CatalogueEntry, misprints_about


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
