"""How an entry of the catalogue is set by hand: step by step, with what to check and how to undo it."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from forms.tuning import smb_conf
from forms.tuning.catalogue import CatalogueEntry, Effect, EntryKind, Status
from forms.wording import plain

DEFAULT_CONF = "/etc/samba/smb.conf"


class InstructionStep(NamedTuple):
    """What to do, and the command that does it, if one does."""

    text: str
    command: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instructions:
    """How one value of a setting is set by hand."""

    name: str
    """The parameter's in smb.conf, or else the entry's."""
    value: str
    section: str
    """``[global]`` or ``[SHARE]``; empty outside smb.conf."""
    line: str
    """To write into smb.conf; empty outside it."""
    steps: tuple[InstructionStep, ...]
    undo: str
    """A sentence."""
    claim: str
    """``NAME=VALUE`` as the shell takes it, for ``run --change``."""
    warnings: tuple[str, ...]
    """Sentences; the last one is about the risk."""

    @property
    def setting(self) -> str:
        return f"{self.name} = {self.value}"


def advise(entry: CatalogueEntry, value: str, *, share: str | None = None, conf: str = DEFAULT_CONF) -> Instructions:
    """How to set an entry to a value in the smb.conf at ``conf``, for the whole server or for ``share``.

    testparm comes before smbd, since smbd 4.17.12 takes a broken file and then refuses sessions.
    """
    if entry.kind is EntryKind.SMB_CONF:
        name = entry.parameter
        section = smb_conf.section(smb_conf.spelling(name).parameter, share)
        line = plain(f"{name} = {value}").rstrip()
        steps = list(_samba_steps(entry, section, share, conf))
    else:
        name = entry.name
        section = ""
        line = ""
        steps = list(_host_steps(entry, value))
    if entry.seen_by:
        steps.append(InstructionStep(f"see that it acts: {entry.seen_by}"))

    return Instructions(
        name=name,
        value=value,
        section=section,
        line=line,
        steps=tuple(steps),
        undo=_undo(entry),
        claim=shlex.quote(f"{name}={value}"),
        warnings=tuple(_warnings(entry, value)),
    )


def _samba_steps(entry: CatalogueEntry, section: str, share: str | None, conf: str) -> Iterator[InstructionStep]:
    file = shlex.quote(conf)
    control = "smbcontrol" if conf == DEFAULT_CONF else f"smbcontrol -s {file}"
    section_option = f" --section-name={shlex.quote(share)}" if share and section != "[global]" else ""

    yield InstructionStep(f"write the line into {section} of {conf}; a comment must stand on a line of its own")
    yield InstructionStep(
        "on the server: this must end with code 0, without 'Unknown parameter' or 'Ignoring'", f"testparm -s {file}"
    )
    if entry.parameter != "log level":
        query = f"testparm -s --parameter-name={shlex.quote(entry.parameter)}{section_option} {file}"
        yield InstructionStep("on the server: this must print the new value", query)

    if entry.takes_effect is Effect.RESTART:
        yield InstructionStep("on the server: restart it; all sessions end", "systemctl restart smbd")
        return
    yield InstructionStep("on the server, as root: have smbd read its file", f"{control} smbd reload-config")
    if entry.takes_effect is Effect.NEXT_TREE_CONNECT:
        close = f"{control} smbd close-share {shlex.quote(share or 'SHARE')}"
        yield InstructionStep("clients that are connected need the share opened again", close)
    if entry.takes_effect is Effect.NEXT_CONNECTION:
        yield InstructionStep(
            "clients that are connected keep what they agreed on: unmount and mount again;"
            " a new series makes a new connection"
        )


def _host_steps(entry: CatalogueEntry, value: str) -> Iterator[InstructionStep]:
    quoted = shlex.quote(value)
    queue_file = _QUEUE_FILES.get(entry.name)
    if entry.kind is EntryKind.MOUNT:
        yield from _mount_steps(entry, value)
        return

    if entry.kind is EntryKind.SYSCTL:
        yield InstructionStep("on the host that is to change, first note what it was", f"sysctl {entry.parameter}")
        yield InstructionStep("as root", f"sysctl -w {entry.parameter}={quoted}")
    elif entry.name in ("block", "in-flight"):
        yield InstructionStep("give it to the next series", f"sharebench run … --{entry.name} {quoted}")
        return
    elif entry.name in ("client encrypt", "client sign"):
        option = f" --{entry.name.removeprefix('client ')}" if value == "yes" else ""
        yield InstructionStep("give it to the next series", f"sharebench run …{option}")
        return
    elif entry.name == "version of Samba":
        yield InstructionStep(
            "start the new smbd beside the old one, on another port, over the same folder; its smb.conf and the risks",
            "sharebench help versus",
        )
        yield InstructionStep(
            "measure both interleaved",
            "sharebench run smb://USER@HOST/SHARE/FILE --runs 8 --versus smb://USER@HOST:1445/SHARE/FILE",
        )
        return
    elif entry.name == "MTU":
        yield InstructionStep("as root, on every host and switch of the way", f"ip link set dev INTERFACE mtu {quoted}")
    elif queue_file:
        yield InstructionStep("as root", f"echo {quoted} > /sys/block/DISK/queue/{queue_file}")
        return
    else:
        note = f": {entry.status_note}" if entry.status_note else ""
        yield InstructionStep(f"set it to {value}{note}")

    if entry.takes_effect is Effect.NEXT_CONNECTION:
        yield InstructionStep("only new connections have it; a new series makes one")


_QUEUE_FILES = {"read_ahead_kb": "read_ahead_kb", "I/O scheduler": "scheduler"}


def _mount_steps(entry: CatalogueEntry, value: str) -> Iterator[InstructionStep]:
    if entry.parameter == "seal":
        option = value
    elif value in ("", entry.parameter):
        option = entry.parameter
    else:
        option = f"{entry.parameter}={value}"
    mount = f"mount -t cifs //HOST/SHARE FOLDER -o {shlex.quote(option or 'OPTIONS')}"

    yield InstructionStep("on the client: unmount every share of that server, or the connection stays", "umount FOLDER")
    yield InstructionStep("mount it again, with its other options", mount)
    yield InstructionStep("it must stand in the mount's line", "grep cifs /proc/mounts")


def _undo(entry: CatalogueEntry) -> str:
    if entry.kind is not EntryKind.SMB_CONF:
        return "Set it back to what it was."
    if entry.parameter == "socket options":
        return (
            "Restore the file and restart smbd: buffers and marks stay on running connections, and on the "
            "listening socket that later ones inherit from."
        )
    if entry.takes_effect is Effect.RESTART:
        return "Restore the file, check it with testparm -s, and restart smbd."
    return "Restore the file, check it with testparm -s, and have smbd read it again."


def _warnings(entry: CatalogueEntry, value: str) -> list[str]:
    warnings = []
    if entry.needs.text:
        warnings.append(f"Does nothing unless {entry.needs.text}.")
    if entry.status is Status.NEWER:
        warnings.append(f"Needs Samba {entry.since} or later.")
    if entry.status is Status.REMOVED:
        instead = f"; {' or '.join(entry.replaced_by)} took its place" if entry.replaced_by else ""
        warnings.append(f"Removed in Samba {entry.removed_in}{instead}.")

    refused = smb_conf.refusal(entry.parameter, value) if entry.kind is EntryKind.SMB_CONF else None
    if refused:
        warnings.append(f"testparm refuses this value: {refused}.")
    if entry.warning:
        warnings.append(entry.warning)
    return [*warnings, entry.risk]


def suggested_value(entry: CatalogueEntry) -> str:
    """The one that the entry names, else the first value that is not the default."""
    if entry.suggest:
        return entry.suggest
    default = entry.default or ""
    return next((value for value in entry.values if value.lower() != default.lower()), default)
