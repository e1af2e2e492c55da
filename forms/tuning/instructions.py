"""How one change is made by hand: the line for smb.conf or the command, how to check it, apply it and put it back."""

import shlex
from dataclasses import dataclass

from forms.tuning import smb_conf
from forms.tuning.catalogue import CatalogueEntry, Effect, EntryKind, Status
from forms.wording import plain

DEFAULT_CONF = "/etc/samba/smb.conf"


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionStep:
    """One thing to do, with the command for it."""

    text: str
    command: str = ""
    """As typed into a shell on the host that ``text`` names; empty where there is nothing to type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instructions:
    """All that is needed to make one change and to have it measured."""

    name: str
    value: str
    section: str
    """``[global]`` or ``[SHARE]``; empty where it is no matter of smb.conf."""
    line: str
    steps: tuple[InstructionStep, ...]
    undo: str
    claim: str
    warnings: tuple[str, ...]


def advise(entry: CatalogueEntry, value: str, *, share: str | None = None, conf: str = DEFAULT_CONF) -> Instructions:
    """How to set what the entry is about to ``value``; ``share`` is the measured one, ``conf`` the server's smb.conf.

    The order is the safe one: testparm first, since smbd takes a broken file without a word and then turns new
    sessions away (measured on Samba 4.17.12).
    """
    in_conf = entry.kind is EntryKind.SMB_CONF
    section = smb_conf.section(smb_conf.spelling(entry.parameter).parameter, share) if in_conf else ""
    steps = _samba_steps(entry, section, share, conf) if in_conf else _host_steps(entry, value)
    return Instructions(
        name=entry.parameter if in_conf else entry.name,
        value=value,
        section=section,
        line=plain(f"{entry.parameter} = {value}").rstrip() if in_conf else "",
        steps=(*steps, *((InstructionStep(text=f"see that it acts: {entry.seen_by}"),) if entry.seen_by else ())),
        undo=_undo(entry),
        claim=shlex.quote(f"{entry.parameter if in_conf else entry.name}={value}"),
        warnings=tuple(_warnings(entry, value)),
    )


def _samba_steps(entry: CatalogueEntry, section: str, share: str | None, conf: str) -> tuple[InstructionStep, ...]:
    file = shlex.quote(conf)
    of_section = f" --section-name={shlex.quote(share)}" if share and section != "[global]" else ""
    asked = f"testparm -s --parameter-name={shlex.quote(entry.parameter)}{of_section} {file}"
    shown = (
        ()
        if entry.parameter == "log level"
        else (InstructionStep(text="on the server: it must print the new value", command=asked),)
    )
    return (
        InstructionStep(text=f"write the line into {section} of {conf}; a comment must stand on a line of its own"),
        InstructionStep(
            text="on the server: it must end with code 0, without 'Unknown parameter' or 'Ignoring'",
            command=f"testparm -s {file}",
        ),
        *shown,
        *_apply(entry, share),
    )


def _apply(entry: CatalogueEntry, share: str | None) -> tuple[InstructionStep, ...]:
    restart = InstructionStep(text="on the server: restart it; all sessions end", command="systemctl restart smbd")
    if entry.takes_effect is Effect.RESTART:
        return (restart,)
    reload = InstructionStep(
        text="on the server, as root: have smbd read its file", command="smbcontrol smbd reload-config"
    )
    if entry.takes_effect is Effect.NEXT_TREE_CONNECT:
        close = f"smbcontrol smbd close-share {shlex.quote(share or 'SHARE')}"
        return (reload, InstructionStep(text="clients that are connected need the share opened again", command=close))
    if entry.takes_effect is Effect.NEXT_CONNECTION:
        text = (
            "clients that are connected keep what they agreed on: unmount and mount again;"
            " a new series makes a new connection"
        )
        return (reload, InstructionStep(text=text))
    return (reload,)


def _host_steps(entry: CatalogueEntry, value: str) -> tuple[InstructionStep, ...]:
    quoted = shlex.quote(value)
    if entry.kind is EntryKind.SYSCTL:
        return (
            InstructionStep(
                text="on the host that is to change, first note what it was", command=f"sysctl {entry.parameter}"
            ),
            InstructionStep(text="as root", command=f"sysctl -w {entry.parameter}={quoted}"),
            *_reconnect(entry),
        )
    if entry.kind is EntryKind.MOUNT:
        option = entry.parameter if value in ("", entry.parameter) else f"{entry.parameter}={value}"
        option = value if entry.parameter == "seal" else option
        return (
            InstructionStep(
                text="on the client: unmount every share of that server, or the connection stays",
                command="umount FOLDER",
            ),
            InstructionStep(
                text="mount it again, with its other options",
                command=f"mount -t cifs //HOST/SHARE FOLDER -o {shlex.quote(option or 'OPTIONS')}",
            ),
            InstructionStep(text="it must stand in the mount's line", command="grep cifs /proc/mounts"),
        )
    if entry.name in ("block", "in-flight"):
        return (
            InstructionStep(text="give it to the next series", command=f"sharebench run … --{entry.name} {quoted}"),
        )
    if entry.name == "MTU":
        command = f"ip link set dev INTERFACE mtu {quoted}"
        return (
            InstructionStep(text="as root, on every host and switch of the way", command=command),
            *_reconnect(entry),
        )
    if entry.name == "read_ahead_kb":
        return (InstructionStep(text="as root", command=f"echo {quoted} > /sys/block/DISK/queue/read_ahead_kb"),)
    if entry.name == "I/O scheduler":
        return (InstructionStep(text="as root", command=f"echo {quoted} > /sys/block/DISK/queue/scheduler"),)
    return (
        InstructionStep(text=f"set it to {value}{f': {entry.status_note}' if entry.status_note else ''}"),
        *_reconnect(entry),
    )


def _reconnect(entry: CatalogueEntry) -> tuple[InstructionStep, ...]:
    if entry.takes_effect is not Effect.NEXT_CONNECTION:
        return ()
    return (InstructionStep(text="only new connections have it; a new series makes one"),)


def _undo(entry: CatalogueEntry) -> str:
    if entry.kind is not EntryKind.SMB_CONF:
        return "Set it back to what it was."
    if entry.parameter == "socket options":
        return (
            "Put the file back as it was and restart smbd: buffers and marks stay on running connections, and on the "
            "listening socket that later ones inherit from."
        )
    if entry.takes_effect is Effect.RESTART:
        return "Put the file back as it was, check it with testparm -s, and restart smbd."
    return "Put the file back as it was, check it with testparm -s, and have smbd read it again."


def _warnings(entry: CatalogueEntry, value: str) -> list[str]:
    said = [f"{entry.risk}"]
    if entry.warning:
        said.insert(0, entry.warning)
    refused = smb_conf.refusal(entry.parameter, value) if entry.kind is EntryKind.SMB_CONF else None
    if refused:
        said.insert(0, f"testparm refuses this value: {refused}.")
    if entry.status is Status.REMOVED:
        instead = f"; {' or '.join(entry.replaced_by)} took its place" if entry.replaced_by else ""
        said.insert(0, f"Removed in Samba {entry.removed_in}{instead}.")
    if entry.status is Status.NEWER:
        said.insert(0, f"Needs Samba {entry.since} or later.")
    if entry.needs.text:
        said.insert(0, f"Does nothing unless {entry.needs.text}.")
    return said
