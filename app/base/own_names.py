"""What sharebench's own files and folders on a share are called, so that ``clean`` finds what was left of them.

All names are random. A scratch file or folder is made for one series, and removed at its end.
"""

import re
import secrets

from app.base.targets import join
from storage.records import Target

DEEPEST = 16
"""Levels of folders that sharebench makes; deeper is only what leads back to itself, as somebody's link may."""
PREFIX = ".sharebench-"
"""Of everything that sharebench makes on a share: ``clean`` finds it by this."""
ISOLATION_PREFIX = f"{PREFIX}isolate-"
_STEM = re.escape(PREFIX)
is_scratch_name = re.compile(rf"{_STEM}[0-9a-f]{{12}}").fullmatch
is_load_folder = re.compile(rf"{_STEM}load-[0-9a-f]{{12}}").fullmatch
is_tree_folder = re.compile(rf"{_STEM}(?:tree|diagnose)-[0-9a-f]{{12}}").fullmatch
is_isolation_folder = re.compile(rf"{re.escape(ISOLATION_PREFIX)}[0-9a-f]{{8}}(-disk)?").fullmatch


def new_folder(of: str) -> str:
    """A random name for the folder ``of`` a ``load`` or of a ``diagnose``."""
    return f"{PREFIX}{of}-{secrets.token_hex(6)}"


def new_scratch_path(target: Target, *, tree: bool = False) -> str:
    """A random path in the folder ``target.path``; with ``tree`` it is for a folder of files."""
    kind = "tree-" if tree else ""
    return join(target, f"{PREFIX}{kind}{secrets.token_hex(6)}")


def is_scratch_path(target: Target, path: str) -> bool:
    """Whether a path could be of :func:`new_scratch_path`, and lies in the target's folder."""
    name = path.rpartition("/")[2]
    return bool(is_scratch_name(name) or is_tree_folder(name)) and path == join(target, name)
