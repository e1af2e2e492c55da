"""Facts of the file system and the disk below a shared folder, from what ``probe.sh`` printed on its machine."""

import re

from app.server.mounts import mount_of
from app.server.shell import Answer
from forms.tuning.fact_names import FOLDER_CLOSED_ABOVE, FOLDER_IS, FOLDER_MISSING, FOLDER_RIGHTS
from storage.records import FactValue

OPTIONS_LIMIT = 400
"""Characters kept; an overlay's options can be pages long."""


_RIGHTS_LINE = re.compile(r"d[-rwxsStT]{9}\S? ")
"""``drwxr-xr-x /srv/data``; a sign behind the mode is for an access control list."""
_OF_OTHERS = 7
"""Where the rights of everybody else begin in a mode."""
_ALL_MAY = "rw"
_LETS_THROUGH = frozenset("xt")

_NO_FOLDERS = {
    "file": "a file, not a folder",
    "link": "a link to a place that does not exist",
    "loop": "a link that leads in a circle",
    "gone": "a mount whose other side is gone",
}
"""What stands in the place of a folder, by the word of the probe."""


def folder_facts(answer: Answer) -> dict[str, FactValue]:
    """What is wrong with the folder that a share is configured with: that there is none, or its rights."""
    return _missing_folder_facts(answer) | rights_facts(answer)


def _missing_folder_facts(answer: Answer) -> dict[str, FactValue]:
    """The folder that a share is configured with, where there is none to use, and what stands in its place."""
    configured_folder = answer.stripped("folder")
    word = answer.stripped("folder.missing")
    # A "%" is replaced for each user, so that the folder as written is nobody's.
    if not word or "%" in configured_folder:
        return {}

    facts: dict[str, FactValue] = {FOLDER_MISSING: configured_folder}
    if word in _NO_FOLDERS:
        facts[FOLDER_IS] = _NO_FOLDERS[word]
    return facts


def rights_facts(answer: Answer) -> dict[str, FactValue]:
    """The rights of the shared folder and of those above it, where not everybody may do everything."""
    lines = (answer.text("folder.rights") or "").splitlines()
    folders = [line.split(" ", 1) for line in lines if _RIGHTS_LINE.match(line)]
    if not folders:
        return {}

    facts: dict[str, FactValue] = {}
    mode, _ = folders[-1]
    if not mode.startswith(_ALL_MAY, _OF_OTHERS):
        facts[FOLDER_RIGHTS] = mode
    for mode_above, path in folders[:-1]:
        if mode_above[_OF_OTHERS + 2] not in _LETS_THROUGH:
            facts[FOLDER_CLOSED_ABOVE] = f"{mode_above} {path or '/'}"
            break
    return facts


def filesystem_facts(answer: Answer) -> dict[str, FactValue]:
    """Of the shared folder's file system, disk and the layers (RAID, LVM, ZFS) between; empty if unknown."""
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
        total_kibibytes, _, free_kibibytes = sizes[-1]
        facts["filesystem.size_bytes"] = int(total_kibibytes) * 1024
        facts["filesystem.free_bytes"] = int(free_kibibytes) * 1024

    return facts | _disk_facts(answer)


_ZFS_REDUNDANCY = re.compile(r"(mirror|raidz\d?|draid)[-\w:]*")


def _disk_facts(answer: Answer) -> dict[str, FactValue]:
    facts: dict[str, FactValue] = {}
    rotational = answer.stripped("disk:rotational")
    if rotational:
        facts["disk.rotational"] = "yes" if rotational == "1" else "no"

    # The scheduler in use stands in brackets among those that could be.
    schedulers = answer.text("disk:scheduler") or ""
    in_brackets = re.search(r"\[(\S+)\]", schedulers)
    if schedulers:
        facts["disk.scheduler"] = in_brackets.group(1) if in_brackets else schedulers.strip()

    read_ahead_kibibytes = answer.stripped("disk:read_ahead_kb")
    if read_ahead_kibibytes.isdecimal():
        facts["disk.read_ahead_bytes"] = int(read_ahead_kibibytes) * 1024

    layers = _layers(answer.text("disk:layers"), answer.text("zpool"), answer.text("zpool.rc"))
    if layers:
        facts["storage.layers"] = layers
    return facts


def _layers(devices: str | None, pool: str | None, pool_code: str | None) -> str:
    """From the top, such as ``vg-data LVM on md0 raid5 of 3 disks``."""
    if pool and (pool_code or "0").strip() == "0":
        # A row of the pool begins with its name; those of its parts, such as "mirror-0" and its disks, with a tab.
        rows = [line.split("\t") for line in pool.splitlines()]
        name = rows[0][0]
        parts = [row[1] for row in rows if len(row) > 1 and not row[0]]
        kinds = [part for part in parts if _ZFS_REDUNDANCY.match(part)]
        return f"ZFS pool {name}: {', '.join(kinds) or 'single disks'}"

    lines = [" ".join(line.split()) for line in (devices or "").splitlines() if line.strip()]
    return " on ".join(dict.fromkeys(lines))[:OPTIONS_LIMIT]
