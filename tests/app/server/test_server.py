"""What a shared folder lies on: RAID, LVM and encryption as the kernel shows them, and ZFS pools."""

from __future__ import annotations

import subprocess
from pathlib import Path

from app.server.filesystem_facts import filesystem_facts
from app.server.network_facts import network_facts
from app.server.shell import Answer, script_file

MOUNTS = "/dev/mapper/vg-data /srv ext4 rw 0 0\ntank/share /srv zfs rw 0 0"
DF = "Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/x 100 50 50 50% /srv"


def device(folder: Path, name: str, *below: Path, **files: str) -> Path:
    """A block device as /sys shows it."""
    made = folder / name
    (made / "queue").mkdir(parents=True)
    for place, text in files.items():
        file = made / place.replace("__", "/")
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"{text}\n")
    (made / "slaves").mkdir()
    for other in below:
        (made / "slaves" / other.name).symlink_to(other)
    return made


def layers(block: Path) -> str:
    """What the script prints of a block device."""
    functions = script_file("app.server", "probe.sh").partition("main() {")[0]
    script = f'{functions}\ndepth=0\nlayers "$1"'
    return subprocess.run(["sh", "-c", script, "sh", str(block)], capture_output=True, text=True, check=True).stdout


def facts(**sections: str) -> dict[str, object]:
    known = {"folder": "/srv", "mounts": MOUNTS, "df": DF, "df.rc": "0"}
    return dict(filesystem_facts(Answer(sections=known | {n.replace("__", ":"): t for n, t in sections.items()})))


def test_lvm_on_raid_on_three_disks(tmp_path):
    disks = [device(tmp_path, f"sd{letter}", device__model="ST4000  ") for letter in "abc"]
    raid = device(tmp_path, "md0", *disks, md__level="raid5", md__raid_disks="3")
    volume = device(tmp_path, "dm-0", raid, dm__name="vg-data", dm__uuid="LVM-abcdef")
    crypt = device(tmp_path, "dm-1", volume, dm__name="luks", dm__uuid="CRYPT-LUKS2-ab")
    printed = layers(crypt)
    assert facts(disk__layers=printed)["storage.layers"] == (
        "luks CRYPT on vg-data LVM on md0 raid5 of 3 disks on sda disk ST4000 on sdb disk ST4000 on sdc disk ST4000"
    )


def test_a_partition_is_part_of_its_disk(tmp_path):
    disk = device(tmp_path, "vda")
    (disk / "vda1").mkdir()
    (disk / "vda1" / "partition").write_text("1\n")
    assert facts(disk__layers=layers(disk / "vda1"))["storage.layers"] == "vda disk"


def test_a_zfs_pool():
    pool = "tank\t10T\t5T\n\tmirror-0\t5T\n\tsda\t-\n\tsdb\t-\n\traidz2-1\t5T\n"
    assert facts(zpool=pool)["storage.layers"] == "ZFS pool tank: mirror-0, raidz2-1"
    assert facts(zpool="tank\t10T\n\tsda\t-\n")["storage.layers"] == "ZFS pool tank: single disks"
    assert "storage.layers" not in facts(zpool="no such pool", **{"zpool.rc": "1"})
    assert "storage.layers" not in facts()


def test_offloads_that_can_be_switched_are_facts_of_the_link():
    printed = (
        "tcp-segmentation-offload: off\ngeneric-segmentation-offload: off [requested on]\n"
        "generic-receive-offload: on\nlarge-receive-offload: off [fixed]\n"
    )
    found = network_facts(Answer(sections={"outward": "eth0\n", "nic:offloads": printed}))
    assert {name: value for name, value in found.items() if name in {"link.tso", "link.gso", "link.gro"}} == {
        "link.tso": "off", "link.gro": "on",
    }  # fmt: skip
    fixed = network_facts(Answer(sections={"outward": "eth0", "nic:offloads": "tcp-segmentation-offload: off [fixed]"}))
    assert "link.tso" not in fixed
