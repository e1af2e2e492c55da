"""The file system under a shared folder: its kind, options, size, and the disk that it lies on."""

import re
from dataclasses import dataclass

from app.server.shell import Answer
from storage.records import FactValue

OPTIONS_LIMIT = 400
"""Characters of the mount options that are kept: an overlay's can be pages long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """One line of /proc/mounts."""

    source: str
    folder: str
    kind: str
    options: str


def filesystem_facts(answer: Answer) -> dict[str, FactValue]:
    """``filesystem.type``, ``.source``, ``.mounted_at``, ``.options``, ``.size_bytes``, ``.free_bytes``; ``disk.*``;
    ``storage.layers``: RAID, LVM, encryption or a ZFS pool below it.

    Empty where the server did not say which folder it shares, or the folder is not there.
    """
    folder = (answer.text("realpath") or answer.text("folder") or "").strip()
    facts: dict[str, FactValue] = {}
    mount = mount_of(folder, answer.text("mounts"))
    if not folder or mount is None or answer.code("df") != 0:
        return facts
    facts["filesystem.type"] = mount.kind
    facts["filesystem.source"] = mount.source
    facts["filesystem.mounted_at"] = mount.folder
    facts["filesystem.options"] = mount.options[:OPTIONS_LIMIT]
    sizes = re.findall(r"\s(\d+)\s+(\d+)\s+(\d+)\s+\d+%\s", answer.text("df") or "")
    if sizes:
        total, _, free = (int(kibibytes) * 1024 for kibibytes in sizes[-1])
        facts["filesystem.size_bytes"], facts["filesystem.free_bytes"] = total, free
    rotational = (answer.text("disk:rotational") or "").strip()
    if rotational:
        facts["disk.rotational"] = "yes" if rotational == "1" else "no"
    scheduler = answer.text("disk:scheduler") or ""
    chosen = re.search(r"\[(\S+)\]", scheduler)
    if scheduler:
        facts["disk.scheduler"] = chosen.group(1) if chosen else scheduler.strip()
    ahead = (answer.text("disk:read_ahead_kb") or "").strip()
    if ahead.isdecimal():
        facts["disk.read_ahead_bytes"] = int(ahead) * 1024
    if layers := _layers(answer.text("disk:layers"), answer.text("zpool"), answer.text("zpool.rc")):
        facts["storage.layers"] = layers
    return facts


def _layers(devices: str | None, pool: str | None, pool_code: str | None) -> str:
    """What a file system lies on, from the top, such as ``vg-data LVM on md0 raid5 of 3 disks``; disks last."""
    if pool and (pool_code or "0").strip() == "0":
        parts = [line.split("\t") for line in pool.splitlines()]
        kinds = [fields[1] for fields in parts if len(fields) > 1 and not fields[0] and _VDEV.match(fields[1])]
        name = parts[0][0]
        return f"ZFS pool {name}: {', '.join(kinds)}" if kinds else f"ZFS pool {name}: single disks"
    lines = [" ".join(line.split()) for line in (devices or "").splitlines() if line.strip()]
    return " on ".join(dict.fromkeys(lines))[:OPTIONS_LIMIT]


_VDEV = re.compile(r"(mirror|raidz\d?|draid)[-\w:]*")


def mount_of(folder: str, mounts: str | None) -> Mount | None:
    """The mount that a folder lies in: the longest mount point above it, the latest where one covers another."""
    best: Mount | None = None
    for line in (mounts or "").splitlines():
        fields = [_unescape(one) for one in line.split()]
        if len(fields) < 4:
            continue
        mount = Mount(source=fields[0], folder=fields[1], kind=fields[2], options=fields[3])
        above = mount.folder.rstrip("/") + "/"
        if (folder.rstrip("/") + "/").startswith(above) and (best is None or len(mount.folder) >= len(best.folder)):
            best = mount
    return best


def _unescape(field: str) -> str:
    """A field of /proc/mounts, where blanks and backslashes are octal."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match.group(1), 8)), field)
