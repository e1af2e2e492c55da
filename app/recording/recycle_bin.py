"""That a share keeps what is removed from it, also the files of sharebench, by what its settings say."""

import posixpath
from collections.abc import Iterator
from dataclasses import replace

from app.base.advised_commands import clean_command
from app.recording import process
from forms.audit import share_access
from storage import records


def kept_text(target: records.Target, folder: str, server: records.Facts) -> str:
    """What is said before files are made in that folder of the target's share; empty where none is kept."""
    bin_folder = share_access.recycle_folder(server, folder)
    if bin_folder is None:
        return ""

    text = "the share keeps what is removed (vfs objects = recycle), also the files that sharebench makes"
    if "%" in bin_folder:
        return text
    return f"{text}; `{clean_command(replace(target, path=bin_folder))}` removes them from there"


def kept_warning(target: records.Target | None, made_path: str, server: records.Facts) -> Iterator[process.Warned]:
    """The same as a warning, where a file or a folder was made at that path."""
    text = kept_text(target, posixpath.dirname(made_path), server) if target else ""
    if text:
        yield process.Warned(text=text)
