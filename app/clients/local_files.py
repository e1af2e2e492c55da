"""What the system tells of a local folder: its entries, and where it is mounted."""

import os
import stat

from app.clients import base
from app.server.mounts import mount_of


def mount_facts(path: str, mounts: str) -> dict[str, str | int | float]:
    """Facts of the mount that a path lies on; ``mounts`` is the text of /proc/mounts."""
    mount = mount_of(path, mounts)
    if mount is None:
        return {}
    words = mount._asdict()
    facts: dict[str, str | int | float] = {}
    for name, word in words.items():
        fact = "type" if name == "kind" else name
        facts[f"mount.{fact}"] = word
    return facts


def list_entries(path: str) -> list[base.DirectoryEntry]:
    """Raises OSError."""
    with os.scandir(path or "/") as entries:
        return [_entry(entry) for entry in entries]


def _entry(entry: os.DirEntry[str]) -> base.DirectoryEntry:
    try:
        status = entry.stat()
    except OSError:  # a link that leads nowhere, or a file removed meanwhile: it is listed all the same
        status = entry.stat(follow_symlinks=False)
    is_folder = stat.S_ISDIR(status.st_mode)
    size_bytes = 0 if is_folder else status.st_size
    return base.DirectoryEntry(entry.name, is_folder, size_bytes, int(status.st_mtime))
