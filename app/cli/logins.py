"""How a command logs in to its target, and what is said before it measures there."""

import shlex
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from app.base.hidden_answer import hidden_answer
from app.cli import console, notebooks, option_values
from forms.layout import visible

if TYPE_CHECKING:
    from app.clients.base import Secrets
    from storage.notebook import Notebook
    from storage.records import Target

_MOST_IDS_NAMED = 5

_SERVER_SSH = "server_ssh"
_SMB_CONF = "smb_conf"
"""The parameters of the commands that can reach a server's settings."""


def target_and_secrets(context: click.Context, url: str, *, kerberos: bool = False) -> "tuple[Target, Secrets]":
    """The target of a URL, and what logs in to it; as :func:`secrets_for`."""
    from app.base.targets import parse_target

    return secrets_for(context, parse_target(url), kerberos=kerberos)


def secrets_for(
    context: click.Context, target: "Target", *, kerberos: bool = False, credentials: str | None = None
) -> "tuple[Target, Secrets]":
    """The target with its user, and what logs in to it: from options, a file or the environment, or asked for.

    ``credentials`` names the file of this target where it has one of its own. What changed settings and leftovers a
    measurement there would include is said before. Raises UsageError, LoginError.
    """
    from app.clients import logins

    # An error of the login comes alone: nothing is measured then.
    credentials_file = _credentials_file(context, credentials)
    ask = hidden_answer if console.can_ask() else None
    target_with_user, secrets = logins.log_in_as(target, credentials=credentials_file, kerberos=kerberos, ask=ask)

    if notebooks.has_notebook(notebooks.notebook_path(context)):
        # Opening it says what an interrupted trial left changed.
        with notebooks.open_notebook(context) as notebook:
            _keep_typed_ways(context, notebook, target)
            _say_what_is_changed_now(context, notebook, target)
            if context.info_name != "clean":
                _say_what_is_left_over(context, notebook)
    return target_with_user, secrets


def _keep_typed_ways(context: click.Context, notebook: "Notebook", target: "Target") -> None:
    """Keep the typed way to the server's settings, so that no form and no trial on the screen asks for it again."""
    typed = option_values.typed_options(context).keys() & {_SERVER_SSH, _SMB_CONF}
    if not typed or target.abilities.is_local:
        return

    from app.method.known_ways import keep_ways

    # A notebook that cannot be written keeps nothing; commands that need to write there say so.
    with suppress(sqlite3.Error):
        ssh = context.params[_SERVER_SSH] if _SERVER_SSH in typed else None
        conf = context.params[_SMB_CONF] if _SMB_CONF in typed else None
        keep_ways(notebook, target.host, ssh=ssh, conf=conf)


def _say_what_is_changed_now(context: click.Context, notebook: "Notebook", target: "Target") -> None:
    from app.trial.changes_beside import changes_beside

    for change in changes_beside(notebook, target):
        notebooks.say_once(context, f"sharebench: a running trial has {change}: this measurement includes that")


def _say_what_is_left_over(context: click.Context, notebook: "Notebook") -> None:
    ids = [recording.id for recording in notebook.recordings_with_leftovers()]
    if not ids:
        return

    more = f" and {len(ids) - _MOST_IDS_NAMED} more" if len(ids) > _MOST_IDS_NAMED else ""
    notebooks.say_once(
        context,
        f"sharebench: leftovers of {', '.join(ids[:_MOST_IDS_NAMED])}{more} may still be on their targets:"
        f" `sharebench show {ids[0]}` names them, `sharebench clean TARGET` removes them",
    )


def _credentials_file(context: click.Context, own_file: str | None) -> Path | None:
    """The target's own file, or the one that --credentials names; others should not be able to read it."""
    from app.clients import logins

    file_name = own_file or (context.find_root().obj or {}).get("credentials")
    if not file_name:
        return None

    path = Path(file_name)
    if logins.can_be_read_by_others(path):
        notebooks.say_once(
            context,
            f"sharebench: every user of this machine can read the credentials file {visible(file_name)}:"
            f" `chmod 600 {visible(shlex.quote(file_name))}` keeps it for you",
        )
    return path
