"""What an isolation changed on the server: its folders are removed, and smbd's profiling is as before."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from app.base import errors, own_names
from app.isolation.disk_place import remove_folders
from app.server import shell as server_shell
from app.server.smbd import SmbdControl
from storage import isolation as isolation_records
from storage import records


def restore_server(left_behind: isolation_records.LeftBehind) -> tuple[isolation_records.LeftBehind, list[str]]:
    """Remove folders and reset smbd's profiling, as far as the server can be reached.

    Returns what is still to do, and a sentence for each part that is.
    """
    shell = server_shell.ServerShell(left_behind.ssh)
    to_do = left_behind
    problems: list[str] = []

    folders = tuple(
        folder for folder in left_behind.server_folders if own_names.is_isolation_folder(PurePosixPath(folder).name)
    )
    if folders:
        if cause := remove_folders(shell, *folders):
            problems.append(f"{', '.join(folders)} on {shell.where} could not be removed: {cause}")
        else:
            to_do = replace(to_do, server_folders=(), share_folder=None)

    if left_behind.profiling is not None:
        try:
            SmbdControl(shell, left_behind.smb_conf).set_level(left_behind.profiling)
            to_do = replace(to_do, profiling=None)
        except errors.MeasurementError as error:
            problems.append(str(error))
    return to_do, problems


def share_folder_text(folder: str, target: records.Target) -> str:
    """That our folder could not be removed by its path on the server, and where it is to be looked for."""
    return f"{folder} may still be on the share {records.format_target(target)}: delete it there"


def restore_after_kills(
    isolations: Iterable[isolation_records.Isolation],
) -> Iterator[tuple[isolation_records.Isolation, list[str]]]:
    """Restore what killed isolations changed: each of these as it is now, with a sentence about each part."""
    for isolation in isolations:
        if isolation.left_behind.nothing or isolation.running:
            continue
        to_do, problems = restore_server(isolation.left_behind)
        if to_do.share_folder:
            # Nobody is logged in at the share now: it is told once where the folder is to be looked for.
            problems.append(share_folder_text(to_do.share_folder, isolation.target))

        sentences = problems or ["its folders are removed and smbd is as it was"]
        restored = replace(isolation, left_behind=replace(to_do, share_folder=None))
        yield restored, [f"isolation {isolation.id} was interrupted: {sentence}" for sentence in sentences]
