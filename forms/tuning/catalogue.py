"""The catalogue of settings of file servers, clients and networks, by impact; as text of 80 columns and as JSON."""

import difflib
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Annotated, Any, NamedTuple

from forms import layout
from forms.tuning import smb_conf
from forms.tuning.smb_conf import spelling, squeeze, toml_data
from forms.wording import plain
from storage import json_reader, records


class EntryKind(StrEnum):
    SMB_CONF = "smb.conf"
    SYSCTL = "sysctl"
    MOUNT = "mount"
    NIC = "nic"
    CLIENT = "client"
    FILESYSTEM = "filesystem"


class Status(StrEnum):
    """Status in current Samba; settings outside smb.conf *exist*."""

    EXISTS = "exists"
    SMB1_ONLY = "smb1-only"
    REMOVED = "removed"
    NEWER = "newer"


class Effect(StrEnum):
    RUNNING_SESSIONS = "running sessions"
    NEXT_TREE_CONNECT = "next tree connect"
    NEXT_CONNECTION = "next connection"
    RESTART = "restart"
    REMOUNT = "remount"
    AT_ONCE = "at once"
    NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    text: str = ""
    options: Annotated[Mapping[str, str], json_reader.JSONNode.object_or_empty] = field(default_factory=dict)
    """Other smb.conf parameters, by canonical name, with the value each must have."""
    session: tuple[str, ...] = ()
    """``unsigned``, ``unencrypted``, ``encrypted``, ``signed`` or ``smb1``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueEntry:
    rank: int
    name: str
    parameter: str
    kind: EntryKind = EntryKind.SMB_CONF
    scope: str
    """``global``, ``share`` or ``host``."""
    does: str
    expect: str
    sources: tuple[str, ...]
    measured: str = ""
    """On Samba 4.17.12, one client on the loopback of a small virtual machine."""
    values: tuple[str, ...]
    default: str | None = None
    status: Status = Status.EXISTS
    status_note: str = ""
    since: str | None = None
    removed_in: str | None = None
    replaced_by: tuple[str, ...] = ()
    needs: Needs
    takes_effect: Effect
    effect_note: str = ""
    seen_by: str = ""
    risk: str
    warning: str = ""
    synonyms: tuple[str, ...] = ()

    @property
    def is_history(self) -> bool:
        return self.status in _PLACE_IN_HISTORY

    worth_trying: bool = False


class UnknownEntryError(LookupError):
    """No entry of that name; ``str()`` names the closest."""


def find(name: str) -> CatalogueEntry:
    """The entry by name, parameter or synonym, ignoring blanks and case. Raises UnknownEntryError."""
    matches = about(name)
    if matches:
        return matches[0]
    similar_names = _closest(name)
    hint = f"; did you mean {' or '.join(similar_names)}?" if similar_names else ""
    raise UnknownEntryError(f"the catalogue has nothing called {name!r}{hint}")


def about(name: str) -> tuple[CatalogueEntry, ...]:
    """The entries of that name, or else all that set the parameter of that name."""
    key = squeeze(name)
    canonical_key = squeeze(spelling(name).name)
    by_name = tuple(entry for entry in entries() if key in _keys(entry))
    return by_name or tuple(entry for entry in entries() if squeeze(entry.parameter) in (key, canonical_key))


def search(text: str) -> tuple[CatalogueEntry, ...]:
    """Entries with every word of the text; those of that name first, then other names; all for an empty text."""
    words = text.lower().split()
    key = squeeze(text)

    def distance(entry: CatalogueEntry) -> tuple[bool, bool, bool]:
        names = " ".join((entry.name, entry.parameter, *entry.synonyms)).lower()
        has_all_words = all(word in names for word in words)
        return key != squeeze(entry.name), key not in _keys(entry), not has_all_words

    matches = []
    for entry in entries():
        entry_text = _text_of(entry)
        if all(word in entry_text for word in words) or key in _keys(entry):
            matches.append(entry)
    return tuple(sorted(matches, key=distance))


def _keys(entry: CatalogueEntry) -> set[str]:
    return {squeeze(name) for name in (entry.name, *entry.synonyms)}


def _text_of(entry: CatalogueEntry) -> str:
    return " ".join(
        (entry.name, entry.parameter, *entry.synonyms, entry.kind, entry.scope, entry.does, entry.expect, entry.risk)
    ).lower()


def _closest(name: str) -> tuple[str, ...]:
    name_by_key: dict[str, str] = {}
    for entry in entries():
        name_by_key |= dict.fromkeys(sorted(_keys(entry)), entry.name)
    name_by_key |= {squeeze(entry.parameter): entry.parameter for entry in entries()}
    matches = difflib.get_close_matches(squeeze(name), name_by_key, n=6, cutoff=0.6)
    return tuple(dict.fromkeys(name_by_key[key] for key in matches))[:3]


_PLACE_IN_HISTORY: dict[Status | None, int] = {Status.SMB1_ONLY: 1, Status.REMOVED: 2}


@cache
def entries() -> tuple[CatalogueEntry, ...]:
    """All entries: first what is worth most today, then the others, then history."""
    folder = resources.files("forms.tuning").joinpath("data", "catalogue")
    files = sorted(file.name for file in folder.iterdir() if file.name.endswith(".toml"))
    items: list[dict[str, Any]] = []
    for file in files:
        items += toml_data("catalogue", file)["entry"]

    place_by_name = {name: place for place, name in enumerate(toml_data("today.toml")["first"])}
    unknown_names = place_by_name.keys() - {item["name"] for item in items}
    if unknown_names:
        raise ValueError(f"today.toml names what the catalogue has not: {sorted(unknown_names)}")

    def place_in_order(item: Mapping[str, Any]) -> tuple[int, int]:
        in_history = _PLACE_IN_HISTORY.get(item.get("status"), 0)
        return in_history, place_by_name.get(item["name"], len(place_by_name))

    catalogue = []
    for rank, item in enumerate(sorted(items, key=place_in_order), start=1):
        worth_trying = item["name"] in place_by_name and not item.get("warning")
        catalogue.append(_entry(rank, item | {"worth_trying": worth_trying}))
    return tuple(catalogue)


def _folded(item: Mapping[str, Any]) -> dict[str, Any]:
    """With each text on one line, which the file may wrap."""
    return {key: " ".join(value.split()) if isinstance(value, str) else value for key, value in item.items()}


def _entry(rank: int, raw: Mapping[str, Any]) -> CatalogueEntry:
    folded = _folded(raw)
    item = {"rank": rank, "parameter": folded["name"], **folded}
    item["needs"] = {
        "text": item.get("needs"),
        "options": item.pop("needs_options", None),
        "session": item.pop("needs_session", None),
    }
    unknown_keys = item.keys() - CatalogueEntry.__dataclass_fields__.keys()
    if unknown_keys:
        raise json_reader.DocumentError(f"{item['name']}: nothing is called {', '.join(unknown_keys)}")
    return json_reader.JSONNode(item["name"], item).record(CatalogueEntry)


@dataclass(frozen=True, slots=True, kw_only=True)
class Misprint:
    key: str
    source: str
    printed: str
    right: str
    about: tuple[str, ...]
    numbers: tuple[float, ...] = ()

    @property
    def sentence(self) -> str:
        return f'{self.source}: "{self.printed}" {self.right}'


@cache
def misprints() -> tuple[Misprint, ...]:
    items = map(_folded, toml_data("misprints.toml")["misprint"])
    return tuple(json_reader.JSONNode(item["key"], item).record(Misprint) for item in items)


def misprints_about(*names: str) -> tuple[Misprint, ...]:
    keys = {name.casefold() for name in names}
    return tuple(misprint for misprint in misprints() if keys.intersection(map(str.casefold, misprint.about)))


_ACTS_ON = {
    "aio read size": records.Command.GET,
    "use sendfile": records.Command.GET,
    "aio write size": records.Command.PUT,
    "strict sync": records.Command.PUT,
    "sync always": records.Command.PUT,
    "strict allocate": records.Command.PUT,
    "min receivefile size": records.Command.PUT,
}


def _is_signed(client: records.ClientFacts) -> bool:
    return client.is_signed


def _is_encrypted(client: records.ClientFacts) -> bool:
    return client.is_encrypted


def _is_signed_only(client: records.ClientFacts) -> bool:
    return client.is_signed and not client.is_encrypted


def _is_neither(client: records.ClientFacts) -> bool:
    return not client.is_signed and not client.is_encrypted


_RULES: Mapping[str, Callable[[records.ClientFacts], bool]] = {
    "server signing": _is_signed_only,
    "server smb encrypt": _is_encrypted,
    "server smb3 signing algorithms": _is_signed,
    "server smb3 encryption algorithms": _is_encrypted,
    "use sendfile": _is_neither,
    "min receivefile size": _is_neither,
}
"""Settings that act in certain sessions alone."""
_OF_MANY_FILES = frozenset({"case sensitive", "durable handles", "store dos attributes", "smb2 leases", "oplocks"})


def acts_on(name: str) -> records.Command | None:
    """The only command that a setting acts on; None for both or unknown."""
    commands = {_ACTS_ON.get(entry.name) for entry in about(name)}
    return commands.pop() if len(commands) == 1 else None


def relevant(series: records.Series) -> Iterator[CatalogueEntry]:
    """smb.conf settings that can matter to the series, the greatest effect first, each once."""
    parameters: set[str] = set()
    for entry in entries():
        is_usable = entry.kind is EntryKind.SMB_CONF and entry.status is Status.EXISTS and not entry.warning
        acts_on_command = _ACTS_ON.get(entry.name, series.command) is series.command
        if not is_usable or not acts_on_command or entry.name in _OF_MANY_FILES or entry.parameter in parameters:
            continue

        rule = _RULES.get(entry.name)
        if rule is None or rule(series.client):
            parameters.add(entry.parameter)
            yield entry


DEFAULT_CONF = "/etc/samba/smb.conf"


class InstructionStep(NamedTuple):
    text: str
    command: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instructions:
    name: str
    value: str
    section: str
    """``[global]`` or ``[SHARE]``; empty outside smb.conf."""
    line: str
    steps: tuple[InstructionStep, ...]
    undo: str
    claim: str
    warnings: tuple[str, ...]

    @property
    def setting(self) -> str:
        return f"{self.name} = {self.value}"


def advise(entry: CatalogueEntry, value: str, *, share: str | None = None, conf: str = DEFAULT_CONF) -> Instructions:
    """How to set an entry: testparm first; smbd 4.17.12 takes a broken file and then refuses sessions."""
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


SCHEMA = "sharebench/catalogue/1"
WIDTH = 80
_NAME = 42
_LABEL = 14


def status_words(entry: CatalogueEntry) -> str:
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
    conf: str = DEFAULT_CONF,
    ansi: bool = False,
    with_command: bool = False,
    now: str = "",
    tried: Sequence[str] = (),
) -> str:
    """All about one entry, and how to check, apply and restore ``value``, by default :func:`suggested_value`."""
    lines = [f"{entry.rank}. {entry.name}", ""]
    facts = [("server had", now), *_facts(entry), *(("measured here", trial) for trial in tried)]
    for label, text in facts:
        if not text:
            continue
        first, *others = layout.hanging_from(layout.pad(label, _LABEL), plain(text), WIDTH)
        if ansi:
            first = layout.coloured(first[:_LABEL], layout.Tone.FAINT) + first[_LABEL:]
        lines += [first, *others]

    if entry.status is not Status.REMOVED:
        advice = advise(entry, suggested_value(entry) if value is None else value, share=share, conf=conf)
        lines += ["", *_advice(advice)]
        if with_command:
            lines.append("then measure it:")
            lines += _command(f"sharebench run … --experiment NAME --change {plain(advice.claim)}")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def suggested_value(entry: CatalogueEntry) -> str:
    """The first value that is not the default."""
    default = entry.default or ""
    return next((value for value in entry.values if value.lower() != default.lower()), default)


def catalogue_document(entries: Sequence[CatalogueEntry]) -> dict[str, Any]:
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


def _facts(entry: CatalogueEntry) -> Iterator[tuple[str, str]]:
    yield "where", _file_and_section(entry)
    yield "does", entry.does
    yield "expect", entry.expect
    yield "sources", "; ".join(entry.sources)
    yield "measured", entry.measured and f"{entry.measured} (Samba 4.17.12, one client, loopback)"
    yield "status", _status_sentences(entry)
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


def _file_and_section(entry: CatalogueEntry) -> str:
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
    line = " " * 7
    for word in re.findall(r"(?:[^\s']|'[^']*')+", command):
        if line.strip() and layout.width(line) + layout.width(word) + 3 > WIDTH:
            yield f"{line} \\"
            line = " " * 11
        line = f"{line} {word}" if line.strip() else line + word
    yield line
