"""The catalogue as text of 80 columns, and as a JSON document."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

from forms import layout
from forms.tuning import needed_settings
from forms.tuning.catalogue import CatalogueEntry, Effect, EntryKind, Status, misprints_about, risk_with_value
from forms.tuning.instructions import DEFAULT_CONF, Instructions, advise, suggested_value
from forms.wording import plain

SCHEMA = "sharebench/catalogue/1"
WIDTH = 80
"""Columns of the text."""
_NAME = 42
"""Columns of a name in the list."""
_LABEL = 14
"""Columns of a label in front of a text about an entry."""


def status_words(entry: CatalogueEntry) -> str:
    """The entry's status in the list, in two or three words; empty for a parameter that any Samba of today has."""
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
"""The headings of the last two parts of the list."""


def list_text(entries: Sequence[CatalogueEntry], *, ansi: bool = False) -> str:
    """One line per entry; with ``ansi`` history is faint."""
    lines = [f"{'#':>3} {layout.pad('name', _NAME)} {layout.pad('status', 16)} takes effect"]
    for index, entry in enumerate(entries):
        is_first_of_status = index == 0 or entries[index - 1].status is not entry.status
        if entry.is_history and is_first_of_status:
            lines += ["", HISTORY[entry.status]]

        name = layout.pad(layout.cut(entry.name, _NAME), _NAME)
        status = layout.pad(status_words(entry), 16)
        line = f"{entry.rank:>3} {name} {status} {_EFFECTS[entry.takes_effect]}".rstrip()
        lines.append(layout.coloured(line, layout.Tone.FAINT) if ansi and entry.is_history else line)
    return "\n".join(lines) + "\n"


def entry_text(
    entry: CatalogueEntry,
    *,
    value: str | None = None,
    share: str | None = None,
    sections: Sequence[str] = (),
    conf: str = DEFAULT_CONF,
    ansi: bool = False,
    with_command: bool = False,
    now: str = "",
    tried: Sequence[str] = (),
    read: Mapping[str, needed_settings.SettingInEffect] = MappingProxyType({}),
) -> str:
    """All about one entry, and how to check, apply and restore ``value``, by default :func:`suggested_value`.

    ``share`` and ``sections`` say where the line belongs, and ``read`` what other settings are, as for
    :func:`~forms.tuning.instructions.advise`.
    ``now`` is what the server had, ``tried`` what trials of it gave, both in words; ``with_command`` adds the command
    that measures it then.
    """
    lines = [f"{entry.rank}. {entry.name}", ""]
    value = suggested_value(entry) if value is None else value
    facts = [("server had", now), *_facts(entry, value, read), *(("measured here", trial) for trial in tried)]
    for label, text in facts:
        if not text:
            continue
        first, *others = layout.hanging_from(layout.pad(label, _LABEL), plain(text), WIDTH)
        if ansi:
            first = layout.coloured(first[:_LABEL], layout.Tone.FAINT) + first[_LABEL:]
        lines += [first, *others]

    if entry.status is not Status.REMOVED:
        advice = advise(entry, value, share=share, sections=sections, conf=conf, read=read)
        lines += ["", *_advice(advice)]
        if with_command:
            lines.append("then measure it:")
            lines += _command(f"sharebench run … --experiment NAME --change {plain(advice.claim)}")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def catalogue_document(entries: Sequence[CatalogueEntry]) -> dict[str, Any]:
    """The entries as a JSON document."""
    items = []
    for entry in entries:
        misprints = [misprint.sentence for misprint in misprints_about(entry.name)]
        items.append(asdict(entry) | {"misprints": misprints})
    return {"schema": SCHEMA, "entries": items}


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


def _facts(
    entry: CatalogueEntry, value: str, read: Mapping[str, needed_settings.SettingInEffect]
) -> Iterator[tuple[str, str]]:
    """Labels and texts about an entry, of which ``value`` is to be set; a text may be empty."""
    yield "where", _file_and_section(entry)
    yield "does", entry.does
    yield "expect", entry.expect
    yield "sources", "; ".join(entry.sources)
    yield "measured", entry.measured and f"{entry.measured} (Samba 4.17.12, one client, loopback)"

    yield "status", _status_sentences(entry)
    yield "default", entry.default or ("empty" if entry.default == "" else "")
    yield "values to try", ", ".join(value or "(empty)" for value in entry.values)
    yield "takes effect", f"{_EFFECT_SENTENCES[entry.takes_effect]} {entry.effect_note}".strip()
    yield "needs", needed_settings.needs_text(entry, value, read)
    yield "seen by", entry.seen_by

    yield "risk", risk_with_value(entry, value)
    yield "warning", entry.warning
    yield "also called", ", ".join(entry.synonyms)
    for misprint in misprints_about(entry.name):
        yield "misprint", misprint.sentence


def _file_and_section(entry: CatalogueEntry) -> str:
    """Where the setting is made, in words."""
    if entry.kind is EntryKind.SMB_CONF:
        sections = "[global]" if entry.scope == "global" else "[SHARE], or [global] for all"
        return f"smb.conf, {sections}"
    return f"{entry.kind} of the client" if entry.kind is EntryKind.MOUNT else f"{entry.kind} of the host"


def _status_sentences(entry: CatalogueEntry) -> str:
    status = {
        Status.EXISTS: "",
        Status.SMB1_ONLY: "Exists, but for SMB1 alone.",
        Status.REMOVED: f"Removed in Samba {entry.removed_in}.",
        Status.NEWER: f"New in Samba {entry.since}; older ones ignore the line.",
    }[entry.status]
    instead = f"In its place: {', '.join(entry.replaced_by)}." if entry.replaced_by else ""
    return " ".join(filter(None, (status, instead, entry.status_note)))


def _advice(advice: Instructions) -> Iterator[str]:
    """The lines of instructions: what to write, the numbered steps, and how to undo it."""
    yield f"To set {plain(advice.name)} to {plain(advice.value) or '(empty)'}:"
    if advice.line:
        yield f"    {advice.section}"
        yield f"        {plain(advice.line)}"
    for number, step in enumerate(advice.steps, start=1):
        yield from layout.hanging_from(f"{number}. ", plain(step.text), WIDTH)
        if step.command:
            yield from _command(plain(step.command))
    yield from layout.hanging_from("undo: ", advice.undo, WIDTH)


def _command(command: str) -> Iterator[str]:
    """The lines of a command, which is continued by a backslash where it is too long for one."""
    line = " " * 7
    for word in re.findall(r"(?:[^\s']|'[^']*')+", command):
        if line.strip() and layout.width(line) + layout.width(word) + 3 > WIDTH:
            yield f"{line} \\"
            line = " " * 11
        line = f"{line} {word}" if line.strip() else line + word
    yield line
