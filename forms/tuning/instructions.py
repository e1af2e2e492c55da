"""How an entry of the catalogue is set by hand: step by step, with what to check and how to undo it."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from forms import wording
from forms.tuning import smb_conf
from forms.tuning.catalogue import CatalogueEntry, Effect, EntryKind, Status, risk_with_value
from forms.tuning.needed_settings import Condition, NeededSettings, SettingInEffect, needed_settings
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
    """``[global]`` or ``[SHARE]``, or several such; empty outside smb.conf."""
    line: str
    """To write into smb.conf; empty outside it."""
    steps: tuple[InstructionStep, ...]
    undo: str
    """A sentence."""
    claim: str
    """``NAME=VALUE`` as the shell takes it, for ``run --change``."""
    condition: str
    """What must hold for it to act, where that is known to be so or not known at all, as a sentence; else empty."""
    warnings: tuple[str, ...]
    """Sentences; the last one is about the risk."""

    @property
    def setting(self) -> str:
        return f"{self.name} = {self.value}"


def advise(
    entry: CatalogueEntry,
    value: str,
    *,
    share: str | None = None,
    sections: Sequence[str] = (),
    conf: str = DEFAULT_CONF,
    read: Mapping[str, SettingInEffect] = MappingProxyType({}),
) -> Instructions:
    """How to set an entry to a value in the smb.conf at ``conf``, for the whole server or for ``share``.

    ``sections`` are those that have a line of it now, without brackets: it is changed there, as a line of a share wins
    over one of [global]. ``read`` has the settings that the entry needs, as for `needed_settings`.
    testparm comes before smbd, since smbd 4.17.12 takes a broken file and then refuses sessions.
    """
    if entry.kind is EntryKind.SMB_CONF:
        name = entry.parameter
        places = _places_of_line(entry, share, sections)
        section = wording.listed(list(places))
        line = plain(f"{name} = {value}").rstrip()
        steps = list(_samba_steps(entry, _Place(places, share=share, has_line=bool(sections)), conf))
    else:
        name = entry.name
        section = ""
        line = ""
        steps = list(_host_steps(entry, value))
    needed = needed_settings(entry, value, read)
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
        condition=_condition_text(needed),
        warnings=tuple(_warnings(entry, value, needed)),
    )


_GLOBAL = "[global]"


class _Place(NamedTuple):
    """Where the line of a setting belongs."""

    sections: tuple[str, ...]
    """With brackets."""
    share: str | None
    """The one that is measured; None where that is not known."""
    has_line: bool
    """Whether these sections are known to have a line of it now."""


def _places_of_line(entry: CatalogueEntry, share: str | None, sections: Sequence[str]) -> tuple[str, ...]:
    """The sections to write into: of those that have the line that of the share, else all; else the share's own."""
    section_of_share = smb_conf.section(smb_conf.spelling(entry.parameter).parameter, share)
    with_line = tuple(f"[{plain(section)}]" for section in sections)
    is_in_share = section_of_share.casefold() in {section.casefold() for section in with_line}
    if is_in_share or not with_line:
        return (section_of_share,)
    # What another share has does not matter to this one.
    if share is not None:
        return (_GLOBAL,) if _GLOBAL in with_line else (section_of_share,)
    return with_line


def _how_to_write(entry: CatalogueEntry, place: _Place, conf: str) -> str:
    comment = "a comment must stand on a line of its own"
    sections = wording.listed(list(place.sections))
    if place.has_line:
        return f"change the line in {sections} of {conf}; {comment}"
    can_share_have_it = entry.scope == "share" and place.sections == (_GLOBAL,)
    own_line = "; a share that has a line of it keeps its own: change that one" if can_share_have_it else ""
    return f"write the line into {sections} of {conf}{own_line}; {comment}"


def _samba_steps(entry: CatalogueEntry, place: _Place, conf: str) -> Iterator[InstructionStep]:
    file = shlex.quote(conf)
    control = "smbcontrol" if conf == DEFAULT_CONF else f"smbcontrol -s {file}"
    first_section = place.sections[0].strip("[]")
    section_option = "" if place.sections[0] == _GLOBAL else f" --section-name={shlex.quote(first_section)}"
    share = place.share

    yield InstructionStep(_how_to_write(entry, place, conf))
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


def _condition_text(needed: NeededSettings | None) -> str:
    return needed.sentence if needed is not None and needed.condition is not Condition.NOT_MET else ""


def _warnings(entry: CatalogueEntry, value: str, needed: NeededSettings | None) -> list[str]:
    warnings = []
    if needed is not None and needed.condition is Condition.NOT_MET:
        warnings.append(needed.sentence)
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
    return [*warnings, risk_with_value(entry, value)]


def suggested_value(entry: CatalogueEntry) -> str:
    """The one that the entry names, else the first value that is not the default."""
    if entry.suggest:
        return entry.suggest
    default = entry.default or ""
    return next((value for value in entry.values if value.lower() != default.lower()), default)
