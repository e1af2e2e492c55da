"""What an isolation changes on a server, put back as it was: at its end, or when the next one starts after a kill."""

from dataclasses import replace
from pathlib import PurePosixPath

from app.errors import MeasurementError
from app.isolation.folders import remove_folders
from app.isolation.smbd import SmbdControl
from app.server.shell import ServerShell
from app.targets import is_isolation_folder
from storage.isolations import LeftBehind
from storage.notebook import Notebook
from storage.records import Target
from storage.target_url import format_target


def put_back(left: LeftBehind) -> tuple[LeftBehind, list[str]]:
    """Put back what can be reached: what is still to be done, and why."""
    shell, problems = ServerShell(left.ssh), []
    folders = tuple(folder for folder in left.server_folders if is_isolation_folder(PurePosixPath(folder).name))
    if folders:
        if why := remove_folders(shell, *folders):
            problems.append(f"{', '.join(folders)} on {shell.where} could not be removed: {why}")
        else:
            left = replace(left, server_folders=(), share_folder=None)
    if left.profiling is not None:
        try:
            SmbdControl(shell, left.smb_conf).set_level(left.profiling)
            left = replace(left, profiling=None)
        except MeasurementError as error:
            problems.append(str(error))
    return left, problems


def on_the_share(folder: str, target: Target) -> str:
    """What to do about a folder of ours on the share."""
    return f"{folder} may still be on the share {format_target(target)}: delete it there"


def put_back_after_kills(notebook: Notebook) -> list[str]:
    """Put back what isolations left that were killed: what was done, and what could not be done, a line each."""
    said = []
    for head in notebook.isolations():
        if head.left_behind.nothing or head.running:
            continue
        left, problems = put_back(head.left_behind)
        if left.share_folder:
            problems.append(on_the_share(left.share_folder, head.target))
        notebook.update_isolation(replace(head, left_behind=replace(left, share_folder=None)))
        said += [f"isolation {head.id} was interrupted: {problem}" for problem in problems]
        if not problems:
            said.append(f"isolation {head.id} was interrupted: its folders are removed and smbd is as it was")
    return said
