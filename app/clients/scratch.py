"""Files of ours on a target: how they are named, so that none is mistaken for another's."""

import re
import secrets

from app.targets import join
from storage.records import Target

PREFIX = ".sharebench-"
_NAME = re.compile(r"\.sharebench-[0-9a-f]{12}")

_LOAD_FOLDER = re.compile(r"\.sharebench-load-[0-9a-f]{12}")
ISOLATION_PREFIX = f"{PREFIX}isolate-"
"""The beginning of the names of an isolation's folders."""
_ISOLATION_FOLDER = re.compile(r"\.sharebench-isolate-[0-9a-f]{8}(-disk)?")


def new_load_folder() -> str:
    """The name of a new folder for the files of a load; by chance alone has another that name."""
    return f"{PREFIX}load-{secrets.token_hex(6)}"


def is_load_folder(name: str) -> bool:
    """Whether a folder of that very name was made by a load."""
    return _LOAD_FOLDER.fullmatch(name) is not None


def is_isolation_folder(name: str) -> bool:
    """Whether a folder of that very name was made by an isolation."""
    return _ISOLATION_FOLDER.fullmatch(name) is not None


def new_scratch_path(target: Target) -> str:
    """The path of a new file in the folder that ``target.path`` is; by chance alone has another file that name."""
    return join(target, f"{PREFIX}{secrets.token_hex(6)}")


def is_scratch_name(name: str) -> bool:
    """Whether a file of that very name, in that case, was made by us."""
    return _NAME.fullmatch(name) is not None


def is_scratch_path(target: Target, path: str) -> bool:
    """Whether the path is one that :func:`new_scratch_path` may have given for that target."""
    name = path.rpartition("/")[2]
    return is_scratch_name(name) and path == join(target, name)
