"""``sharebench clean``: what sharebench left on a share, or on a machine that measured."""

from collections.abc import Sequence
from contextlib import closing
from functools import partial
from typing import Any

import click

from app.base import errors
from app.check import leftovers
from app.cli import console, declare, logins, run_options, targets
from app.clients import registry
from app.recording.spec import SeriesSpec
from app.server.elsewhere.place import remove_programs
from forms import wording
from forms.layout import visible
from storage import records


@declare.command("clean")
@targets.target_argument(required=False)
@click.option("--yes", is_flag=True, help="Remove without asking.")
@run_options.from_option("Remove the program that was carried to that machine to measure there.")
@declare.measuring_options("Print a JSON array of objects: path, size, time, result.")
@run_options.series_options("client", "sign", "encrypt", "timeout_seconds")
def clean_command(
    context: click.Context, /, target: str | None, yes: bool, as_json: bool, spec: SeriesSpec, **choices: Any
) -> int:
    """Remove files that sharebench left on a share, or the program on a machine that measured.

    After a kill or a lost connection, files and folders of sharebench can remain in the folder TARGET. Their names
    begin with .sharebench-; nothing else is touched. They are listed, and removed after a question.

    Wait until nobody measures in that folder: a running series needs its file.

    With --from HOST, without a TARGET, the folders of ~/.cache/sharebench on that machine are removed and named.
    """
    hosts = choices["from_hosts"]
    if bool(hosts) == bool(target):
        raise errors.UsageError("name the folder to look in, such as smb://HOST/SHARE/FOLDER, or --from HOST")
    if not target:
        return _remove_carried(hosts, as_json=as_json)

    place, secrets = logins.target_and_secrets(context, target, kerberos=choices["kerberos"])
    if not place.abilities.moves_files or (place.abilities.has_share and not place.share):
        raise errors.UsageError("name the folder to look in, such as smb://HOST/SHARE/FOLDER")
    with closing(registry.make_client(place, spec.client, secrets, spec.settings)) as client:
        client.connect()
        folder = leftovers.folder_of(client, place)
        listed = leftovers.find_leftovers(client, folder)
        if not as_json:
            _show_leftovers(listed, folder)

        problems: dict[leftovers.Leftover, str] = {}
        # With --json nobody is asked: without --yes, what is there is only listed.
        is_wanted = yes or (bool(listed) and not as_json and _is_agreed(len(listed)))
        if listed and is_wanted:
            connected = partial(registry.connected_files, folder, secrets, spec.settings)
            problems = leftovers.remove_leftovers(client, folder, listed, connected)

    if as_json:
        console.answer_json([_leftover_document(leftover, problems.get(leftover)) for leftover in listed])
    remaining = [f"{leftover.path} is still there: {problem}" for leftover, problem in problems.items() if problem]
    if remaining:
        raise errors.MeasurementError("; ".join(remaining))
    if problems and not as_json:
        noun = "item" if any(leftover.is_folder for leftover in problems) else "file"
        console.say(f"removed: {wording.count(len(problems), noun)}")
    return 0


def _remove_carried(hosts: Sequence[str], *, as_json: bool) -> int:
    """Remove the program from the machines that measured, without a question: it is carried there again on demand."""
    folders = {host: remove_programs(host) for host in hosts}
    if as_json:
        removed: list[dict[str, str]] = []
        for host, paths in folders.items():
            removed += [{"host": host, "path": path} for path in paths]
        console.answer_json(removed)
        return 0

    for host, paths in folders.items():
        for path in paths:
            console.answer(f"{host}: {visible(path)}")
        if not paths:
            console.say(f"nothing of sharebench's is left on {host}")
    return 0


def _leftover_document(leftover: leftovers.Leftover, problem: str | None) -> dict[str, Any]:
    """``problem`` is empty for what was removed, None where nothing was tried."""
    return {
        "path": leftover.path,
        "size_bytes": leftover.size_bytes,
        "modified_at": leftover.modified_at or None,
        "removed": problem == "",
        "problem": problem or None,
    }


def _show_leftovers(listed: list[leftovers.Leftover], folder: records.Target) -> None:
    if not listed:
        console.say(f"nothing of sharebench's is left in {wording.plain(records.format_target(folder))}")
    for leftover in listed:
        when = records.with_zone(leftover.modified_at) if leftover.modified_at else ""
        size = "our folder" if leftover.is_folder else f"{leftover.size_bytes:,} bytes"
        console.answer(f"{when:<16}  {size:>21}  {wording.plain(leftover.path)}")


def _is_agreed(count: int) -> bool:
    if not console.can_ask():
        console.say("nothing was removed: not a terminal; pass --yes to remove them")
        return False
    pronoun = "it" if count == 1 else f"these {count}"
    if not click.confirm(f"Remove {pronoun}?", err=True):
        raise errors.CancelledError("nothing was removed")
    return True
