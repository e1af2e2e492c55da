"""Which mounted file system a path lies on."""

import re
from typing import NamedTuple

_ESCAPED = re.compile(r"\\([0-7]{3})")


class Mount(NamedTuple):
    """A line of ``/proc/self/mounts``."""

    source: str
    folder: str
    """The mount point."""
    kind: str
    """The file system's."""
    options: str


def mount_of(path: str, mounts: str | None) -> Mount | None:
    """The longest mount point above ``path``, the latest if several are equal."""
    deepest: Mount | None = None
    for line in (mounts or "").splitlines():
        words = [_ESCAPED.sub(_unescape, word) for word in line.split()[:4]]
        if len(words) < 4:
            continue
        mount = Mount(*words)
        is_above = f"{path.rstrip('/')}/".startswith(f"{mount.folder.rstrip('/')}/")
        if is_above and (deepest is None or len(mount.folder) >= len(deepest.folder)):
            deepest = mount
    return deepest


def _unescape(match: re.Match[str]) -> str:
    """A character that /proc/mounts writes as an octal number: a blank in a folder's name."""
    return chr(int(match[1], 8))
