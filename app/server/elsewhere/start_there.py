"""Runs on another machine, as the text of ``python -c``: looks at our program there, takes it in, starts or removes it.

`app.server.elsewhere.place` is the other side, and calls `main`. The words are ``look VERSION``, ``take VERSION DIGEST
BYTES``, ``start VERSION DIGEST MODULE [ARGUMENT…]`` and ``remove``. The program lies in
``~/.cache/sharebench/VERSION``, where only its user may read. Its digest covers the name and content of each file, so
that a file that was changed, added or removed is found before anything of it runs.

Any Python 3.6 must be able to read this file, since which Python is there is one of the questions: annotations are
quoted, and nothing but the standard library is imported.
"""

import hashlib
import io
import json
import os
import platform
import re
import runpy
import shutil
import sys
import sysconfig
import tempfile
import time
import zipfile
from collections.abc import Iterable
from pathlib import Path

CHANGED = 76
"""Exit code where there is no such program, or a changed one (EX_PROTOCOL of sysexits.h)."""
_VERSION_NAME = re.compile(r"\d[\w.+-]*")
_UNFINISHED = "unfinished-"
"""Begins the names of folders that an interrupted carrying leaves."""

_PART_BYTES = 2**20
_MEMBERS_A_SIGN = 100
"""After as many files a sign is given that the unpacking moves."""
_FORGOTTEN_SECONDS = 3600
"""A carrying takes seconds, and minutes on a slow line: what is older was cut off."""


def digest_of(files: "Iterable[tuple[str, Path]]") -> str:
    """SHA-256 over the names and contents, in the order of the names; a name is relative, with slashes."""
    digest = hashlib.sha256()
    for name, path in sorted(files):
        content = path.read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def machine() -> "dict[str, str]":
    """What decides whether compiled modules of another machine run here."""
    return {
        "python": sys.implementation.cache_tag or "unknown",
        "platform": sysconfig.get_platform(),
        "library": platform.libc_ver()[0] or "unknown",
    }


def _cache() -> "Path":
    return Path.home() / ".cache" / "sharebench"


def _digest_there(folder: "Path") -> str:
    """The digest of the program in the folder; empty where there is none that only this user can have changed."""
    if folder.is_symlink() or not folder.is_dir():
        return ""
    status = folder.stat()
    if status.st_uid != os.geteuid() or status.st_mode & 0o077:
        return ""

    files = []
    for path in folder.rglob("*"):
        if path.is_symlink():
            return ""
        if path.is_file():
            files.append((path.relative_to(folder).as_posix(), path))
    return digest_of(files)


def look(version: str) -> int:
    """Say what this machine is, and which program it has, as JSON."""
    print(json.dumps({**machine(), "digest": _digest_there(_cache() / version)}))  # noqa: T201  the answer
    return 0


def take(version: str, digest: str, size_bytes: int) -> int:
    """Unpack the archive on stdin in place of what is there; it is put there whole, or not at all."""
    archive = _read_archive(size_bytes)
    if len(archive) < size_bytes:
        sys.stderr.write(f"{len(archive)} of {size_bytes} bytes of the program arrived\n")
        return 1

    try:
        return _unpack(archive, version, digest)
    except OSError as error:
        sys.stderr.write(
            f"{_cache()} cannot be written ({error.strerror}): make that possible, or install sharebench there\n"
        )
        return 1


def _unpack(archive: bytes, version: str, digest: str) -> int:
    cache = _cache()
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=str(cache)))
    replaced = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=str(cache)))
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as packed:
            for number, member in enumerate(packed.infolist()):
                packed.extract(member, str(new))
                if number % _MEMBERS_A_SIGN == 0:
                    _show_that_it_moves()
        if _digest_there(new) != digest:
            sys.stderr.write("the program arrived changed\n")
            return 1

        folder = cache / version
        if folder.exists() or folder.is_symlink():
            folder.rename(replaced / "old")
        new.rename(folder)
    finally:
        # Others may be unpacking theirs at this moment: only what was forgotten goes with ours.
        for remains in (new, replaced, *_forgotten_in(cache)):
            shutil.rmtree(str(remains), ignore_errors=True)
    return 0


def _read_archive(size_bytes: int) -> bytes:
    """As much of it as arrives."""
    archive = b""
    while len(archive) < size_bytes:
        part = sys.stdin.buffer.read(min(_PART_BYTES, size_bytes - len(archive)))
        if not part:
            break
        archive += part
        _show_that_it_moves()
    return archive


def _show_that_it_moves() -> None:
    """Whoever carries the program takes silence for a dead machine; what is said does not matter."""
    sys.stdout.write(".")
    sys.stdout.flush()


def _forgotten_in(cache: Path) -> list[Path]:
    """What was left by a carrying that was cut off."""
    long_ago = time.time() - _FORGOTTEN_SECONDS
    forgotten = []
    for folder in cache.glob(f"{_UNFINISHED}*"):
        try:
            changed_at = folder.stat().st_mtime
        except FileNotFoundError:  # another one has removed it just now
            continue
        if changed_at < long_ago:
            forgotten.append(folder)
    return forgotten


def start(version: str, digest: str, module: str, *arguments: str) -> int:
    """Become that module, if the program is as it was carried; it writes no files there, such as compiled modules."""
    folder = _cache() / version
    if _digest_there(folder) != digest:
        sys.stderr.write(f"{folder} is not what was carried there\n")
        return CHANGED

    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ["PYTHONPATH"] = str(folder)
    sys.path.insert(0, str(folder))
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
    return 0


def remove() -> int:
    """Remove the programs of all versions, and name each."""
    cache = _cache()
    for folder in sorted(cache.glob("*")):
        is_ours = _VERSION_NAME.fullmatch(folder.name) or folder.name.startswith(_UNFINISHED)
        if is_ours and folder.is_dir() and not folder.is_symlink():
            shutil.rmtree(str(folder))
            print(folder)  # noqa: T201  the answer
    if cache.is_dir() and not any(cache.iterdir()):
        cache.rmdir()
    return 0


def main() -> int:
    os.umask(0o077)
    word, *words = sys.argv[1:]
    if word == "look":
        return look(words[0])
    if word == "take":
        return take(words[0], words[1], int(words[2]))
    if word == "start":
        return start(words[0], words[1], *words[2:])
    return remove()
