"""Configuration files on this machine: an smb.conf, the files that it includes, and what is none of them."""

import glob
import shlex
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from app.base.errors import UsageError
from forms.tuning import per_client
from forms.tuning.conf_file import SmbConfFile, UnreadReason, read_conf

MOST_BYTES = 16 << 20
MOST_INCLUDES = 200
_NUL_SHARE = 0.01
"""A larger share of NUL bytes means a binary file."""


def read_configuration(path: Path) -> str:
    """The text of a configuration file. Raises UsageError if it is none."""
    try:
        if not path.is_file():
            raise UsageError(f"cannot read {path}: it {_why_no_file(path)}; name an smb.conf")
        if path.stat().st_size > MOST_BYTES:
            raise UsageError(f"cannot read {path}: it is larger than {MOST_BYTES >> 20} MiB")
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error

    if content.count(0) > _NUL_SHARE * len(content):
        raise UsageError(f"cannot read {path}: it is no text file; name an smb.conf")
    return content.decode("utf-8", errors="surrogateescape")


def _why_no_file(path: Path) -> str:
    if path.is_dir():
        return "is a folder"
    return "is no file" if path.exists() else "is not on this machine"


def read_includes(path: str, files: dict[str, str]) -> list[str]:
    """Add to ``files``, the texts by path, what the configuration at ``path`` includes, and what is read in its place.

    Returns the failures, one line each.
    """
    problems: list[str] = []
    while len(files) < MOST_INCLUDES:
        parts = read_conf(path, files).unread_for(UnreadReason.INCLUDE_MISSING, UnreadReason.CONFIG_FILE_MISSING)
        missing = [part.setting.value for part in parts]
        readable = [name for name in missing if not glob.has_magic(name) and _is_file(name)]
        was_added = False
        for name in readable:
            try:
                files[name] = read_configuration(Path(name))
                was_added = True
            except UsageError as error:
                problems.append(str(error))
                files[name] = ""  # so that it is not tried again

        # What was added may include further files.
        if not was_added:
            return problems
    return [*problems, f"{path} includes more than {MOST_INCLUDES} files; the rest was not read"]


def files_per_client(conf: SmbConfFile, read_files: Collection[str]) -> dict[str, list[str]]:
    """By the name in the configuration that differs from client to client, the files on this machine that it means.

    Those that were read are left out.
    """
    parts = conf.unread_for(UnreadReason.INCLUDE_PER_CLIENT, UnreadReason.CONFIG_FILE_PER_CLIENT)
    names = {part.setting.value for part in parts}
    files_by_name = {}
    for name in names:
        root = Path("/") if name.startswith("/") else Path()
        matches = map(str, root.glob(per_client.pattern_of(name).lstrip("/")))
        files_by_name[name] = sorted(file for file in matches if _is_file(file) and file not in read_files)
    return files_by_name


def _is_file(name: str) -> bool:
    """Whether the file is there; a name that the system does not take is none."""
    with suppress(OSError, ValueError):
        return Path(name).is_file()
    return False


def refuse_as_target(target: str) -> None:
    """Raises UsageError where a person named a file in place of a server."""
    path = target.removeprefix("file://")
    if "://" not in path and (path.endswith(".conf") or _has_settings(Path(path))):
        raise UsageError(f"{path} is a configuration file, not a target: --smb-conf {shlex.quote(path)} audits it")


def _has_settings(path: Path) -> bool:
    with suppress(OSError):
        if path.is_file():
            with path.open("rb") as file:
                return b"[global]" in file.read(2**16).lower()
    return False
