"""Servers whose settings are changed and cut off: every kind of change, and smb.conf in every layout.

A server shows all that a trial could leave different: of each file its content, mode, owner, ACL, extended attributes,
time and number of links, what is beside it, and what is in effect.
"""

import hashlib
import os
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.servers.process import die_with_parent, program
from tests.servers.smbd import Smbd
from tests.servers.smbd_registry import RegistrySmbd
from tests.servers.sshd import Sshd
from tests.servers.systemd import Systemd

SMB_CONF = (
    "plain", "symlink", "links", "include", "drop-in", "drop-in not included", "owner", "0600", "0640", "acl", "xattr",
    "odd name", "no last line end",
)  # fmt: skip
"""Layouts of smb.conf."""
REGISTRY = ("registry", "registry new")
KINDS = (*SMB_CONF, *REGISTRY, "sysctl", "card", "hook", "ssh", "hook by ssh")
OTHER_ID = 65534


@dataclass(slots=True, kw_only=True)
class ChangedServer:
    """A server with a setting that can be changed."""

    kind: str
    name: str
    value: str | None
    """None for a change by commands."""
    undo: Path
    """Where its undo script will lie."""
    folders: tuple[Path, ...]
    """All files in them are looked at."""
    shell: Path
    """A folder to come first in PATH, in which ``sh`` is the server's shell where that is no shell of this machine."""
    conf: Path | None = None
    ssh: str | None = None
    apply: str | None = None
    revert: str | None = None
    in_effect: Callable[[], str] = str
    after_loss: Callable[[], object] = bool
    """What a machine that comes up again does not have any more."""

    def state(self) -> dict[str, object]:
        """Everything that must be as it was."""
        found: dict[str, object] = {"in effect": self.in_effect()}
        for folder in self.folders:
            found |= {str(path): _file(path) for path in sorted(folder.iterdir())} if folder.exists() else {}
        return found


def _file(path: Path) -> tuple[object, ...]:
    about = path.lstat()
    if path.is_symlink():
        return ("link", str(path.readlink()), about.st_uid, about.st_gid, about.st_mtime_ns)
    if path.is_dir():
        return ("folder", about.st_mode, about.st_uid, about.st_gid)
    attributes = tuple((name, os.getxattr(path, name)) for name in sorted(os.listxattr(path)))
    content = hashlib.sha256(path.read_bytes()).hexdigest()
    return (content, about.st_mode, about.st_uid, about.st_gid, about.st_mtime_ns, about.st_nlink, attributes)


@contextmanager
def servers(
    kinds: tuple[str, ...], wrap: Callable[[Path], None] = lambda _: None
) -> Iterator[dict[str, ChangedServer]]:
    """The servers of those kinds; ``wrap`` puts programs into the folder that comes first in the PATH of each."""
    with ExitStack() as stack:
        root = Path(tempfile.mkdtemp(prefix="sharebench-layouts-"))
        stack.callback(shutil.rmtree, root, ignore_errors=True)
        found: dict[str, ChangedServer] = {}
        shell = root / "bin"
        shell.mkdir()
        wrap(shell)
        if set(kinds) & {*SMB_CONF, "ssh"}:
            samba = Smbd()
            stack.callback(samba.stop)
            samba.start()
            for kind in kinds:
                if kind in {*SMB_CONF, "ssh"}:
                    found[kind] = _smb_conf(kind, samba, _made(root / f"conf-{len(found)}"), shell)
        if set(kinds) & set(REGISTRY):
            found |= _registries(stack, root, wrap)
        if "sysctl" in kinds:
            found["sysctl"] = _sysctl(stack, root, wrap)
        if "card" in kinds:
            found["card"] = _card(stack, root, wrap)
        for kind in ("hook", "hook by ssh"):
            found[kind] = _hook(kind, _made(root / kind.replace(" ", "-")), shell)
        if any("ssh" in kind for kind in kinds):
            sshd = Sshd()
            stack.callback(sshd.stop)
            sshd.start()
            wrap(sshd.path)
            for kind in ("ssh", "hook by ssh"):
                if kind in found:
                    found[kind].shell, found[kind].ssh = sshd.path, "fileserver"
        yield {kind: found[kind] for kind in kinds}


def _made(folder: Path) -> Path:
    folder.mkdir(mode=0o755)
    return folder


def _smb_conf(kind: str, samba: Smbd, folder: Path, shell: Path) -> ChangedServer:
    """A copy of the running smbd's configuration in a layout of its own; smbd reads it again by its processes' ids."""
    text = samba.conf.read_bytes()
    there = _made(folder / 'it\'s a $(x) "name" {é}') if kind == "odd name" else _made(folder / "etc")
    conf = real = there / "smb.conf"
    folders = [there]
    if kind in {"symlink", "links"}:
        real = _made(folder / "real") / "smb.real"
        folders.append(real.parent)
        conf.symlink_to("../real/smb.real" if kind == "symlink" else "second")
        if kind == "links":
            (there / "second").symlink_to(real)
    if kind == "include":
        (there / "more.conf").write_text("[more]\n    path = /tmp\n")
        text += f"[global]\n    include = {there}/more.conf\n".encode()
    if kind.startswith("drop-in"):
        (there / "sharebench.conf").write_text("# of the admin\n[global]\n    deadtime = 77")
        (there / "sharebench.conf").chmod(0o640)
        if kind == "drop-in":
            text += f"[global]\n    include = {there}/sharebench.conf\n".encode()
    if kind == "no last line end":
        text = text.rstrip(b"\n") + b"\n    comment = its own \\"
    real.write_bytes(text)
    real.chmod({"0600": 0o600, "0640": 0o640, "symlink": 0o600}.get(kind, 0o644))
    if kind in {"owner", "symlink", "drop-in"}:
        os.chown(real, OTHER_ID, OTHER_ID)
    if kind == "acl":
        os.setxattr(real, "system.posix_acl_access", access_list())
    if kind == "xattr":
        os.setxattr(real, "user.note", b"of the admin")
    for path in folders:
        for file in path.iterdir():
            os.utime(file, ns=(1_600_000_000_123_456_789,) * 2, follow_symlinks=False)
    return ChangedServer(
        kind=kind, name="aio read size", value="0", undo=there / "sharebench-undo.sh", folders=tuple(folders),
        shell=shell, conf=conf, in_effect=lambda: _testparm(conf),
    )  # fmt: skip


def access_list() -> bytes:
    """An ACL as the kernel keeps it: rw for the owner, r for user 1 and for the group, nothing for others."""
    nobody = 0xFFFFFFFF
    entries = ((0x01, 6, nobody), (0x02, 4, 1), (0x04, 4, nobody), (0x10, 4, nobody), (0x20, 0, nobody))
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def _testparm(conf: Path) -> str:
    words = [program("testparm"), "-s", "--parameter-name=aio read size", "--section-name=bench", str(conf)]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()


def _registries(stack: ExitStack, root: Path, wrap: Callable[[Path], None]) -> dict[str, ChangedServer]:
    """One parameter that the registry has already, between others, and one that it has not."""
    samba = RegistrySmbd()
    stack.callback(samba.stop)
    samba.start()
    for name, value in (("comment", "first"), ("aio read size", "1"), ("hide dot files", "no")):
        samba.net("setparm", samba.share, name, value)
    shell = _made(root / "registry")
    samba.shell_in(shell)
    wrap(shell)
    return {
        kind: ChangedServer(
            kind=kind, name=name, value=value, undo=samba.root / "sharebench-undo.sh", folders=(samba.root / "etc",),
            shell=shell, conf=samba.conf, in_effect=lambda: _registry(samba),
        )
        for kind, name, value in (("registry", "aio read size", "0"), ("registry new", "strict allocate", "yes"))
    }  # fmt: skip


def _registry(samba: RegistrySmbd) -> str:
    """What is in the registry, and what of ours is beside smb.conf; what is set goes to its section's end."""
    ours = [path.name for path in samba.root.iterdir() if "sharebench" in path.name]
    sections = samba.net("list").strip().split("\n\n")
    return f"{[sorted(section.splitlines()) for section in sections]} {ours}"


def _sysctl(stack: ExitStack, root: Path, wrap: Callable[[Path], None]) -> ChangedServer:
    folder = _made(root / "sysctl")
    holder = subprocess.Popen(
        [program("unshare"), "--net", "sh", "-c", "echo ready; exec sleep infinity"], stdout=subprocess.PIPE,
        preexec_fn=die_with_parent,  # noqa: PLW1509  # no threads matter before exec
    )  # fmt: skip
    stack.callback(holder.wait)
    stack.callback(holder.kill)
    assert holder.stdout
    stack.callback(holder.stdout.close)
    holder.stdout.readline()
    inside = [program("nsenter"), f"--net=/proc/{holder.pid}/ns/net", "--"]
    (folder / "sh").write_text(f'#!/bin/sh\nexec {" ".join(inside)} /bin/sh "$@"\n')
    (folder / "sh").chmod(0o755)
    wrap(folder)
    words = [*inside, "cat", "/proc/sys/net/ipv4/tcp_rmem"]
    return ChangedServer(
        kind="sysctl", name="net.ipv4.tcp_rmem", value="4096 65536 1048576",
        undo=root / "sysctl-undo/sharebench-undo.sh", folders=(root / "sysctl-undo",), shell=folder,
        in_effect=lambda: subprocess.run(words, capture_output=True, text=True, check=True).stdout,
    )  # fmt: skip


def _card(stack: ExitStack, root: Path, wrap: Callable[[Path], None]) -> ChangedServer:
    systemd = Systemd()
    stack.callback(systemd.stop)
    systemd.start()
    folder = _made(root / "card")
    systemd.shell_in(folder)
    wrap(folder)

    def timers() -> list[str]:
        said = systemd.run("systemctl", "list-units", "--all", "--plain", "--no-legend", "sharebench-undo-*")
        return [line.split()[0] for line in said.splitlines()]

    def in_effect() -> str:
        return f"{systemd.run('ip', '-o', 'link', 'show', 'card0').partition(' mtu ')[2].split()[0]} {timers()}"

    return ChangedServer(
        kind="card", name="mtu@card0", value="9000", undo=root / "card-undo/sharebench-undo.sh",
        folders=(root / "card-undo",), shell=folder, in_effect=in_effect,
        after_loss=lambda: systemd.run("systemctl", "stop", *timers(), "sharebench-none.timer"),
    )  # fmt: skip


def _hook(kind: str, folder: Path, shell: Path) -> ChangedServer:
    """A command of two halves, so that one that was cut off in between has to be reverted too."""
    place = _made(folder / "state")
    undo = folder / "undo/sharebench-undo.sh"
    return ChangedServer(
        kind=kind, name="stripe", value=None, undo=undo, folders=(place, undo.parent), shell=shell,
        apply=f"touch '{place}/a'; sleep 0.1; touch '{place}/b'", revert=f"rm -f '{place}/a' '{place}/b'",
    )  # fmt: skip
