"""``sharebench catalogue``: what can be changed on a server."""

from dataclasses import replace
from typing import Any

import click

from app.base.errors import UsageError
from app.cli import console, declare, notebooks
from app.comparison.tried import tried_here
from app.method.measured_place import MeasuredPlace, measured_place
from forms.tuning import catalogue, catalogue_text
from forms.tuning.catalogue import CatalogueEntry, misprints_about


@declare.command("catalogue")
@click.argument("name", required=False)
@declare.option("--value", "VALUE", "Show how to set VALUE (default: the first to try).")
@declare.option("--share", "SHARE", "Share whose section gets the line.")
@declare.option("--smb-conf", "FILE", "Path of smb.conf on the server.", name="smb_conf")
@click.option("--all", "everything", is_flag=True, help="List all settings, also those that matter little today.")
@declare.answering_options("Print the entries as JSON.")
def catalogue_command(context: click.Context, /, *, name: str | None, as_json: bool, **choices: Any) -> None:
    """List the settings that are worth changing on a server, or describe NAME.

    The settings are those of the server, of its clients and of the network between them, the greatest effect first.
    NAME is a setting, one of its synonyms, or words to search for in all entries.
    """
    entries = catalogue.entries() if name is None else _entries_about(name)
    value = choices["value"]
    if value is not None and (name is None or len(entries) != 1):
        raise UsageError("--value belongs to one NAME of the catalogue; see `sharebench catalogue`")

    if as_json:
        console.answer_json(catalogue_text.catalogue_document(entries))
        return

    if len(entries) == 1:
        _answer_entry(context, entries[0], value=value, share=choices["share"], conf=choices["smb_conf"])
    else:
        lists_all = choices["everything"] or name is not None
        _answer_list(entries, lists_all=lists_all)

    if name is not None and name not in {entry.name for entry in entries}:
        for misprint in misprints_about(name):
            console.answer(f"\nmisprint in {misprint.sentence}")


def _entries_about(name: str) -> tuple[CatalogueEntry, ...]:
    """The entries of that name or parameter, else those in which its words are found. Raises UsageError for none."""
    try:
        entries = catalogue.about(name) or catalogue.search(name)
        # Nothing matches here, so `find` raises the error that proposes similar names.
        return entries or (catalogue.find(name),)
    except catalogue.UnknownEntryError as error:
        raise UsageError(f"{error} (`sharebench catalogue --all` lists all)") from error


def _answer_entry(
    context: click.Context, entry: CatalogueEntry, *, value: str | None, share: str | None, conf: str | None
) -> None:
    """Describe a setting, with what the notebook knows of it."""
    trials: tuple[str, ...] = ()
    place = MeasuredPlace()
    if notebooks.notebook_path(context).exists():
        with notebooks.open_notebook(context) as notebook:
            trials = tried_here(notebook, [entry.name]).get(entry.name, ())
            place = measured_place(notebook, ())

    place = replace(place, share=share or place.share)
    text = catalogue_text.entry_text(
        entry,
        value=value,
        share=place.share,
        sections=place.sections_to_change(entry, value),
        conf=conf or place.conf,
        ansi=console.draws_colour(),
        with_command=True,
        now=place.value_in_words(entry),
        read=place.settings_needed_by(entry),
        tried=trials,
    )
    console.answer(text.rstrip("\n"))


def _answer_list(entries: tuple[CatalogueEntry, ...], *, lists_all: bool) -> None:
    listed_entries = [entry for entry in entries if lists_all or entry.worth_trying]
    console.answer(catalogue_text.list_text(listed_entries, ansi=console.draws_colour()).rstrip("\n"))
    if len(listed_entries) < len(entries):
        console.say(f"{len(entries) - len(listed_entries)} more entries: sharebench catalogue --all")
