"""The catalogue as text of 80 columns, and as a JSON document."""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from forms.layout import Tone, coloured, cut, pad, width, wrap
from forms.tuning import smb_conf
from forms.tuning.catalogue import CatalogueEntry, Effect, EntryKind, Status, misprints_about
from forms.wording import plain

DEFAULT_CONF = "/etc/samba/smb.conf"


class InstructionStep(NamedTuple):
    """One thing to do, with the command for it."""

    text: str
    command: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instructions:
    """How to make one change and measure it."""

    name: str
    value: str
    section: str
    """``[global]`` or ``[SHARE]``; empty outside smb.conf."""
    line: str
    steps: tuple[InstructionStep, ...]
    undo: str
    claim: str
    warnings: tuple[str, ...]


def advise(entry: CatalogueEntry, value: str, *, share: str | None = None, conf: str = DEFAULT_CONF) -> Instructions:
    """How to set an entry: testparm first; smbd 4.17.12 takes a broken file and then refuses sessions."""
    in_conf = entry.kind is EntryKind.SMB_CONF
    section = smb_conf.section(smb_conf.spelling(entry.parameter).parameter, share) if in_conf else ""
    steps = _samba_steps(entry, section, share, conf) if in_conf else _host_steps(entry, value)
    return Instructions(
        name=entry.parameter if in_conf else entry.name,
        value=value,
        section=section,
        line=plain(f"{entry.parameter} = {value}").rstrip() if in_conf else "",
        steps=(*steps, *((InstructionStep(f"see that it acts: {entry.seen_by}"),) if entry.seen_by else ())),
        undo=_undo(entry),
        claim=shlex.quote(f"{entry.parameter if in_conf else entry.name}={value}"),
        warnings=tuple(_warnings(entry, value)),
    )


def _samba_steps(entry: CatalogueEntry, section: str, share: str | None, conf: str) -> Iterator[InstructionStep]:
    file = shlex.quote(conf)
    of_section = f" --section-name={shlex.quote(share)}" if share and section != "[global]" else ""
    yield InstructionStep(f"write the line into {section} of {conf}; a comment must stand on a line of its own")
    yield InstructionStep(
        "on the server: it must end with code 0, without 'Unknown parameter' or 'Ignoring'", f"testparm -s {file}"
    )
    if entry.parameter != "log level":
        asked = f"testparm -s --parameter-name={shlex.quote(entry.parameter)}{of_section} {file}"
        yield InstructionStep("on the server: it must print the new value", asked)
    if entry.takes_effect is Effect.RESTART:
        yield InstructionStep("on the server: restart it; all sessions end", "systemctl restart smbd")
        return
    yield InstructionStep("on the server, as root: have smbd read its file", "smbcontrol smbd reload-config")
    if entry.takes_effect is Effect.NEXT_TREE_CONNECT:
        close = f"smbcontrol smbd close-share {shlex.quote(share or 'SHARE')}"
        yield InstructionStep("clients that are connected need the share opened again", close)
    if entry.takes_effect is Effect.NEXT_CONNECTION:
        yield InstructionStep(
            "clients that are connected keep what they agreed on: unmount and mount again;"
            " a new series makes a new connection"
        )


def _host_steps(entry: CatalogueEntry, value: str) -> Iterator[InstructionStep]:
    quoted = shlex.quote(value)
    queue = {"read_ahead_kb": "read_ahead_kb", "I/O scheduler": "scheduler"}.get(entry.name)
    reconnects = entry.takes_effect is Effect.NEXT_CONNECTION
    if entry.kind is EntryKind.MOUNT:
        option = entry.parameter if value in ("", entry.parameter) else f"{entry.parameter}={value}"
        option = value if entry.parameter == "seal" else option
        mount = f"mount -t cifs //HOST/SHARE FOLDER -o {shlex.quote(option or 'OPTIONS')}"
        yield InstructionStep(
            "on the client: unmount every share of that server, or the connection stays", "umount FOLDER"
        )
        yield InstructionStep("mount it again, with its other options", mount)
        yield InstructionStep("it must stand in the mount's line", "grep cifs /proc/mounts")
        return
    if entry.kind is EntryKind.SYSCTL:
        yield InstructionStep("on the host that is to change, first note what it was", f"sysctl {entry.parameter}")
        yield InstructionStep("as root", f"sysctl -w {entry.parameter}={quoted}")
    elif entry.name in ("block", "in-flight"):
        yield InstructionStep("give it to the next series", f"sharebench run … --{entry.name} {quoted}")
        return
    elif entry.name == "MTU":
        yield InstructionStep("as root, on every host and switch of the way", f"ip link set dev INTERFACE mtu {quoted}")
    elif queue:
        yield InstructionStep("as root", f"echo {quoted} > /sys/block/DISK/queue/{queue}")
        return
    else:
        yield InstructionStep(f"set it to {value}{f': {entry.status_note}' if entry.status_note else ''}")
    if reconnects:
        yield InstructionStep("only new connections have it; a new series makes one")


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
    refused = smb_conf.refusal(entry.parameter, value) if entry.kind is EntryKind.SMB_CONF else None
    instead = f"; {' or '.join(entry.replaced_by)} took its place" if entry.replaced_by else ""
    said = (
        entry.needs.text and f"Does nothing unless {entry.needs.text}.",
        f"Needs Samba {entry.since} or later." if entry.status is Status.NEWER else "",
        f"Removed in Samba {entry.removed_in}{instead}." if entry.status is Status.REMOVED else "",
        f"testparm refuses this value: {refused}." if refused else "",
        entry.warning,
    )
    return [*filter(None, said), entry.risk]


SCHEMA = "sharebench/catalogue/1"
WIDTH = 80
_NAME = 42
_LABEL = 14


def status_words(entry: CatalogueEntry) -> str:
    """The status where it is not *exists*: ``SMB1 only``, ``removed in 3.0.2``, …"""
    if entry.status is Status.SMB1_ONLY:
        return "SMB1 only"
    if entry.status is Status.REMOVED:
        return f"removed in {entry.removed_in}"
    if entry.status is Status.NEWER:
        return f"since {entry.since}"
    if entry.needs.options or entry.takes_effect is Effect.NEVER:
        return "conditional" if entry.needs.options else "no effect"
    return "" if entry.kind is EntryKind.SMB_CONF else entry.kind.value


HISTORY = {
    Status.SMB1_ONLY: "Read by Samba for SMB1 clients only",
    Status.REMOVED: "Removed: no supported Samba reads these",
}


def list_text(entries: Sequence[CatalogueEntry], *, ansi: bool = False) -> str:
    """One line per entry; with ``ansi`` history is faint."""
    lines = [f"{'#':>3} {pad('name', _NAME)} {pad('status', 16)} takes effect"]
    for index, entry in enumerate(entries):
        if entry.is_history and not (index and entries[index - 1].status is entry.status):
            lines += ["", HISTORY[entry.status]]
        line = (
            f"{entry.rank:>3} {pad(cut(entry.name, _NAME), _NAME)} {pad(status_words(entry), 16)}"
            f" {_EFFECTS[entry.takes_effect]}"
        )
        lines.append(coloured(line.rstrip(), Tone.FAINT) if ansi and entry.is_history else line.rstrip())
    return "\n".join(lines) + "\n"


def entry_text(
    entry: CatalogueEntry,
    *,
    value: str | None = None,
    share: str | None = None,
    conf: str = DEFAULT_CONF,
    ansi: bool = False,
    with_command: bool = False,
    tried: Sequence[str] = (),
) -> str:
    """All about one entry, and how to check, apply and restore ``value``, by default :func:`suggested_value`."""
    lines = [f"{entry.rank}. {entry.name}", ""]
    for label, text in (*_facts(entry), *(("measured here", each) for each in tried)):
        for place, line in enumerate(_labelled(label, text)):
            faint = ansi and place == 0
            lines.append(coloured(line[:_LABEL], Tone.FAINT) + line[_LABEL:] if faint else line)
    if entry.status is not Status.REMOVED:
        advice = advise(entry, suggested_value(entry) if value is None else value, share=share, conf=conf)
        lines += ["", *_advice(advice)]
        if with_command:
            lines.append("then measure it:")
            lines += _command(f"sharebench run … --experiment NAME --change {plain(advice.claim)}")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def suggested_value(entry: CatalogueEntry) -> str:
    """The first value that is not the default."""
    return next(
        (value for value in entry.values if value.lower() != (entry.default or "").lower()), entry.default or ""
    )


def catalogue_document(entries: Sequence[CatalogueEntry]) -> dict[str, Any]:
    """The JSON object ``sharebench/catalogue/1`` of some entries."""
    return {"schema": SCHEMA, "entries": [_entry_document(entry) for entry in entries]}


def _entry_document(entry: CatalogueEntry) -> dict[str, Any]:
    document = asdict(entry)
    for name in ("kind", "status", "takes_effect"):
        document[name] = document[name].value
    return {name: list(value) if isinstance(value, tuple) else value for name, value in document.items()} | {
        "needs": {"text": entry.needs.text, "options": dict(entry.needs.options), "session": list(entry.needs.session)},
        "misprints": [misprint.sentence for misprint in misprints_about(entry.name)],
    }


_EFFECTS = {effect: effect.value for effect in Effect} | {
    Effect.RUNNING_SESSIONS: "at reload",
    Effect.NEXT_TREE_CONNECT: "tree connect",
    Effect.NEXT_CONNECTION: "connection",
}
_EFFECT_SENTENCES = {
    Effect.RUNNING_SESSIONS: "In running sessions, as soon as smbd has read its file.",
    Effect.NEXT_TREE_CONNECT: "When a client next opens the share (tree connect).",
    Effect.NEXT_CONNECTION: "At the next connection; running sessions keep what they have.",
    Effect.RESTART: "When the service is started again.",
    Effect.REMOUNT: "When it is mounted again.",
    Effect.AT_ONCE: "At once.",
    Effect.NEVER: "Never.",
}


def _facts(entry: CatalogueEntry) -> Iterator[tuple[str, str]]:
    where = {EntryKind.SMB_CONF: f"smb.conf, [{'global' if entry.scope == 'global' else 'SHARE'}]"}
    yield "where", where.get(entry.kind, f"{entry.kind} of the {'client' if entry.kind is EntryKind.MOUNT else 'host'}")
    yield "does", entry.does
    yield "expect", entry.expect
    yield "sources", "; ".join(entry.sources)
    yield "measured", entry.measured and f"{entry.measured} (Samba 4.17.12, one client, loopback)"
    yield "status", _status(entry)
    yield "default", entry.default or ("empty" if entry.default == "" else "")
    yield "values to try", ", ".join(value or "(empty)" for value in entry.values)
    yield "takes effect", f"{_EFFECT_SENTENCES[entry.takes_effect]} {entry.effect_note}".strip()
    yield "needs", entry.needs.text and f"Does nothing unless {entry.needs.text}."
    yield "seen by", entry.seen_by
    yield "risk", entry.risk
    yield "warning", entry.warning
    yield "also called", ", ".join(entry.synonyms)
    for misprint in misprints_about(entry.name):
        yield "misprint", misprint.sentence


def _status(entry: CatalogueEntry) -> str:
    words = {
        Status.EXISTS: "Exists." if entry.kind is EntryKind.SMB_CONF else "",
        Status.SMB1_ONLY: "Exists, but for SMB1 alone.",
        Status.REMOVED: f"Removed in Samba {entry.removed_in}.",
        Status.NEWER: f"New in Samba {entry.since}; older ones ignore the line.",
    }[entry.status]
    instead = f"In its place: {', '.join(entry.replaced_by)}." if entry.replaced_by else ""
    return " ".join(filter(None, (words, instead, entry.status_note)))


def _advice(advice: Instructions) -> Iterator[str]:
    yield f"To set {plain(advice.name)} to {plain(advice.value) or '(empty)'}:"
    if advice.line:
        yield f"    {advice.section}"
        yield f"        {plain(advice.line)}"
    for number, step in enumerate(advice.steps, start=1):
        yield from wrap_hanging(f"{number}. ", plain(step.text))
        if step.command:
            yield from _command(plain(step.command))
    yield from wrap_hanging("undo: ", advice.undo)


def _command(command: str) -> Iterator[str]:
    line = " " * 7
    for word in re.findall(r"(?:[^\s']|'[^']*')+", command):
        if line.strip() and width(line) + width(word) + 3 > WIDTH:
            yield f"{line} \\"
            line = " " * 11
        line = f"{line} {word}" if line.strip() else line + word
    yield line


def _labelled(label: str, text: str) -> Iterator[str]:
    if text:
        yield from wrap_hanging(pad(label, _LABEL), plain(text))


def wrap_hanging(label: str, text: str) -> Iterator[str]:
    """A label and text wrapped beside it, at most 80 cells wide."""
    first, *rest = wrap(text, WIDTH - len(label))
    yield label + first
    for line in rest:
        yield " " * len(label) + line
