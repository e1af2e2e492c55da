"""Finds the place that a path leads to, through its links, without being led astray by another user.

Where we run as root, a link that another user made would have us write where that user wishes: it is not followed. And
whoever can exchange a link between our look and our write could do the same: so the folder is held open, and the file
is opened below it (`Place`).
"""

import errno
import os
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_MOST_LINKS = 40
"""As many as Linux follows."""


class ForeignLinkError(OSError):
    """A path leads through a link of another user; ``str()`` names the link and where it leads."""

    def __init__(self, link: Path, target: str, owner: int) -> None:
        super().__init__(
            errno.ELOOP,
            f"{link} is a link that user {owner} made, to {target}: only your own and root's are followed",
        )

    def __str__(self) -> str:
        return str(self.strerror)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A name in a folder that is held open, so that it stays the same place whatever links are exchanged meanwhile."""

    path: Path
    """Without links."""
    name: str
    folder: int | None
    """The folder's descriptor; None where the system opens no file below one, and ``name`` is the whole path."""
    is_link: bool = False
    """Whether the path's last name is a link."""
    is_of_kernel: bool = False
    """A link of /proc to an open file, which only the kernel can follow."""

    def beside(self, name: str) -> str:
        """The name by which a file beside it is opened, as ``name`` is for itself."""
        return name if self.folder is not None else str(self.path.with_name(name))

    def status(self) -> os.stat_result | None:
        """None where there is nothing yet."""
        try:
            return os.stat(self.name, dir_fd=self.folder, follow_symlinks=self.is_of_kernel)
        except FileNotFoundError:
            return None


@contextmanager
def place_of(path: Path) -> Iterator[Place]:
    """The place that links lead to. Raises ForeignLinkError, or OSError where a folder on the way is missing."""
    if not hasattr(os, "O_PATH"):  # no Linux, where nobody measures as root
        real = Path(os.path.realpath(path))
        yield Place(path=real, name=str(real), folder=None, is_link=path.is_symlink())
        return
    with ExitStack() as opened:
        yield _Walk(path, opened).find_place()


def real_path(path: Path) -> Path:
    """``path`` without links, as far as it exists. Raises ForeignLinkError, OSError."""
    with place_of(path) as place:
        return place.path


def make_folders(folder: Path) -> None:
    """Make ``folder`` and those above it that are missing. Raises ForeignLinkError, OSError."""
    existing = next(path for path in (folder, *folder.parents) if os.path.lexists(path))
    real = real_path(existing)
    if not real.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, f"{existing} is no folder", str(existing))

    (real / folder.relative_to(existing)).mkdir(parents=True, exist_ok=True)


class _Walk:
    """Goes along a path name by name, holding the folder open that it is in."""

    def __init__(self, path: Path, opened: ExitStack) -> None:
        """The folders that are opened on the way stay open until ``opened`` is closed."""
        self._given = path
        self._opened = opened
        self._names = deque(path.parts)
        """Those still to go; a link puts its own in front."""
        self._links = 0
        """How many were followed, since links may form a circle."""
        self._is_link = False
        # The folder that the program began in may be gone.
        self._path = Path("/") if path.is_absolute() else Path.cwd()
        self._folder = self._open(".", None, os.O_DIRECTORY)

    def find_place(self) -> Place:
        while self._names:
            name = self._names.popleft()
            if name in {"/", "//"}:
                self._go_to("/", Path("/"))
            elif name == "..":
                self._go_to("..", self._path.parent)
            else:
                place = self._step(name)
                if place is not None:
                    return place
        return self._place_called(".")

    def _step(self, name: str) -> Place | None:
        """Enter a folder or follow a link; the place, where the path ends here."""
        is_last = not self._names
        try:
            entry = self._open(name, self._folder, os.O_NOFOLLOW)
        except FileNotFoundError:
            if is_last:
                return self._place_called(name)
            raise

        status = os.fstat(entry)
        if stat.S_ISLNK(status.st_mode):
            return self._follow(name, entry, status, is_last=is_last)
        if is_last:
            return self._place_called(name)
        self._folder = entry
        self._path /= name
        return None

    def _follow(self, name: str, entry: int, status: os.stat_result, *, is_last: bool) -> Place | None:
        """Put the names of a link in front of those still to go. Raises ForeignLinkError for another user's."""
        target = os.readlink("", dir_fd=entry)
        if status.st_uid not in {0, os.geteuid()}:
            raise ForeignLinkError(self._path / name, target, status.st_uid)

        self._is_link = self._is_link or is_last
        # A link such as /proc/self/fd/3 leads to an open file, whatever its text says.
        if status.st_dev == _device_of_proc():
            if is_last:
                return self._place_called(name, is_of_kernel=True)
            self._go_to(name, self._path / name)
            return None

        self._links += 1
        if self._links > _MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(self._given))
        self._names.extendleft(reversed(Path(target).parts))
        return None

    def _go_to(self, name: str, path: Path) -> None:
        self._folder = self._open(name, self._folder, os.O_DIRECTORY)
        self._path = path

    def _open(self, name: str, folder: int | None, flag: int) -> int:
        descriptor = os.open(name, os.O_PATH | os.O_CLOEXEC | flag, dir_fd=folder)
        self._opened.callback(os.close, descriptor)
        return descriptor

    def _place_called(self, name: str, *, is_of_kernel: bool = False) -> Place:
        return Place(
            path=self._path / name, name=name, folder=self._folder, is_link=self._is_link, is_of_kernel=is_of_kernel
        )


@cache
def _device_of_proc() -> int | None:
    try:
        return Path("/proc").stat().st_dev
    except OSError:
        return None


def is_own_file(path: Path) -> bool:
    """Whether a file is this user's, the sudo caller's, or does not exist yet."""
    if not hasattr(os, "geteuid") or not path.exists():
        return True

    own_users = {os.geteuid(), int(os.environ.get("SUDO_UID", os.geteuid()))}
    return path.stat().st_uid in own_users
