"""``sharebench catalogue``: the settings that can be changed, in order of impact."""

import click

from app.cli import common, output
from app.errors import UsageError
from app.workflows.tried import tried_here
from forms.tuning import catalogue, catalogue_text
from forms.tuning.catalogue import CatalogueEntry, misprints_about
from forms.tuning.catalogue_text import DEFAULT_CONF


@common.command("catalogue")
@click.argument("name", required=False)
@click.option("--value", metavar="VALUE", help="Show how to set VALUE (default: the first to try).")
@click.option("--share", metavar="SHARE", help="Share whose section gets the line.")
@click.option("--smb-conf", "smb_conf", metavar="FILE", help="Path of smb.conf on the server.")
@click.option("--all", "everything", is_flag=True, help="List all settings, also those that matter little today.")
@click.option("--json", "as_json", is_flag=True, help="Print the entries as JSON.")
@common.options_of_all
def catalogue_command(
    context: click.Context,
    /,
    name: str | None,
    value: str | None,
    share: str | None,
    smb_conf: str | None,
    everything: bool,
    as_json: bool,
) -> None:
    """List the settings that are worth changing on a server, or describe NAME.

    The settings are those of the server, of its clients and of the network between them, the greatest effect first.
    NAME is a setting, one of its synonyms, or words to search for in all entries.
    """
    found = catalogue.entries() if name is None else _named(name)
    if value is not None and (name is None or len(found) != 1):
        raise UsageError("--value belongs to one NAME of the catalogue; see `sharebench catalogue`")
    if as_json:
        output.answer_json(catalogue_text.catalogue_document(found))
    elif len(found) == 1:
        conf, ansi = smb_conf or DEFAULT_CONF, output.draws_colour()
        text = catalogue_text.entry_text(
            found[0], value=value, share=share, conf=conf, ansi=ansi, with_command=True, tried=_tried(context, found[0])
        )
        output.answer(text.rstrip("\n"))
    else:
        shown = found if everything or name is not None else [entry for entry in found if entry.worth_trying]
        output.answer(catalogue_text.list_text(shown, ansi=output.draws_colour()).rstrip("\n"))
        if len(shown) < len(found):
            output.say(f"{len(found) - len(shown)} more entries: sharebench catalogue --all")
    if name is not None and not as_json and name not in {entry.name for entry in found}:
        for misprint in misprints_about(name):
            output.answer(f"\nmisprint in {misprint.sentence}")


def _tried(context: click.Context, entry: CatalogueEntry) -> tuple[str, ...]:
    if not common.notebook_path(context).exists():
        return ()
    with common.notebook(context) as notebook:
        return tried_here(notebook, [entry.name]).get(entry.name, ())


def _named(name: str) -> tuple[CatalogueEntry, ...]:
    found = catalogue.about(name) or catalogue.search(name)
    if found:
        return found
    try:
        catalogue.find(name)
    except catalogue.UnknownEntryError as error:
        raise UsageError(f"{error}; `sharebench catalogue --all` lists all") from error
    return ()
