"""The catalogue of settings of file servers, clients and networks, by impact."""

import difflib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Annotated, Any

from forms.tuning.smb_conf import spelling, squeeze, toml_data
from storage.json_reader import DocumentError, JSONNode
from storage.records import ClientFacts, Command, Series


class EntryKind(StrEnum):
    """Where a setting lives."""

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
    """When a change reaches a transfer."""

    RUNNING_SESSIONS = "running sessions"
    NEXT_TREE_CONNECT = "next tree connect"
    NEXT_CONNECTION = "next connection"
    RESTART = "restart"
    REMOUNT = "remount"
    AT_ONCE = "at once"
    NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """Conditions for a setting to act."""

    text: str = ""
    options: Annotated[Mapping[str, str], JSONNode.object_or_empty] = field(default_factory=dict)
    """Other smb.conf parameters, by canonical name, with the value each must have."""
    session: tuple[str, ...] = ()
    """``unsigned``, ``unencrypted``, ``encrypted``, ``signed`` or ``smb1``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueEntry:
    """One setting, with what is known of it."""

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
    def exists(self) -> bool:
        return self.status in (Status.EXISTS, Status.SMB1_ONLY)

    @property
    def is_history(self) -> bool:
        return self.status in _PLACE_IN_HISTORY

    worth_trying: bool = False


class UnknownEntryError(LookupError):
    """No entry of that name; ``suggestions`` are the closest names."""

    def __init__(self, name: str, suggestions: tuple[str, ...]) -> None:
        hint = f"; did you mean {' or '.join(suggestions)}?" if suggestions else ""
        super().__init__(f"the catalogue has nothing called {name!r}{hint}")
        self.name = name
        self.suggestions = suggestions


def entries() -> tuple[CatalogueEntry, ...]:
    """All entries in order of impact."""
    return _load()


def find(name: str) -> CatalogueEntry:
    """The entry by name, parameter or synonym, ignoring blanks and case. Raises UnknownEntryError."""
    found = about(name)
    if not found:
        raise UnknownEntryError(name, _closest(name))
    return found[0]


def about(name: str) -> tuple[CatalogueEntry, ...]:
    """Entries of that name, or about values of that parameter."""
    key = squeeze(name)
    canonical = squeeze(spelling(name).name)
    by_name = tuple(e for e in entries() if key in _keys(e))
    return by_name or tuple(e for e in entries() if squeeze(e.parameter) in (key, canonical))


def search(text: str) -> tuple[CatalogueEntry, ...]:
    """Entries with every word of the text, name matches first; all for an empty one."""
    words = text.lower().split()
    matching = [e for e in entries() if all(word in _text_of(e) for word in words)]
    names = {e.name: " ".join((e.name, e.parameter, *e.synonyms)).lower() for e in matching}
    return tuple(sorted(matching, key=lambda e: not all(word in names[e.name] for word in words)))


def _keys(entry: CatalogueEntry) -> set[str]:
    return {squeeze(n) for n in (entry.name, *entry.synonyms)}


def _text_of(entry: CatalogueEntry) -> str:
    return " ".join(
        (entry.name, entry.parameter, *entry.synonyms, entry.kind, entry.scope, entry.does, entry.expect, entry.risk)
    ).lower()


def _closest(name: str) -> tuple[str, ...]:
    by_key = {key: e.name for e in entries() for key in sorted(_keys(e))}
    by_key |= {squeeze(e.parameter): e.parameter for e in entries()}
    close = difflib.get_close_matches(squeeze(name), by_key, n=6, cutoff=0.6)
    return tuple(dict.fromkeys(by_key[key] for key in close))[:3]


_PLACE_IN_HISTORY: dict[Status | None, int] = {Status.SMB1_ONLY: 1, Status.REMOVED: 2}


@cache
def _load() -> tuple[CatalogueEntry, ...]:
    folder = resources.files("forms.tuning").joinpath("data", "catalogue")
    files = sorted(file.name for file in folder.iterdir() if file.name.endswith(".toml"))
    raw = [item for file in files for item in toml_data("catalogue", file)["entry"]]
    first = {name: place for place, name in enumerate(toml_data("today.toml")["first"])}
    if unknown := first.keys() - {item["name"] for item in raw}:
        raise ValueError(f"today.toml names what the catalogue has not: {sorted(unknown)}")
    raw.sort(key=lambda item: (_PLACE_IN_HISTORY.get(item.get("status"), 0), first.get(item["name"], len(first))))
    for item in raw:
        item["worth_trying"] = item["name"] in first and not item.get("warning")
    return tuple(_entry(rank, item) for rank, item in enumerate(raw, start=1))


def _entry(rank: int, raw: Mapping[str, Any]) -> CatalogueEntry:
    item = {key: " ".join(value.split()) if isinstance(value, str) else value for key, value in raw.items()}
    item["needs"] = {
        "text": item.get("needs"),
        "options": item.pop("needs_options", None),
        "session": item.pop("needs_session", None),
    }
    if unknown := item.keys() - CatalogueEntry.__dataclass_fields__.keys():
        raise DocumentError(f"{item['name']}: nothing is called {', '.join(unknown)}")
    return JSONNode(item["name"], {"rank": rank, "parameter": item["name"], **item}).record(CatalogueEntry)


@dataclass(frozen=True, slots=True, kw_only=True)
class Misprint:
    """One error in a source."""

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
    """All known misprints, in the order of the sources."""
    raw = toml_data("misprints.toml")["misprint"]
    folded = [{name: " ".join(v.split()) if isinstance(v, str) else v for name, v in item.items()} for item in raw]
    return tuple(JSONNode(item["key"], item).record(Misprint) for item in folded)


def misprints_about(*names: str) -> tuple[Misprint, ...]:
    """Misprints about a parameter, part, table or finding, by any name."""
    wanted = {name.casefold() for name in names}
    return tuple(one for one in misprints() if wanted & {name.casefold() for name in one.about})


def known_misprint(table: str, number: float) -> Misprint | None:
    """The misprint of a table that a number was copied from, else None."""
    return next((one for one in misprints_about(table) if number in one.numbers), None)


_ACTS_ON = {
    "aio read size": Command.GET,
    "use sendfile": Command.GET,
    "aio write size": Command.PUT,
    "strict sync": Command.PUT,
    "sync always": Command.PUT,
    "strict allocate": Command.PUT,
    "min receivefile size": Command.PUT,
}
_RULES: Mapping[str, Callable[[ClientFacts], bool]] = {
    "server signing": lambda client: client.is_signed and not client.is_encrypted,
    "server smb encrypt": lambda client: client.is_encrypted,
    "server smb3 signing algorithms": lambda client: client.is_signed,
    "server smb3 encryption algorithms": lambda client: client.is_encrypted,
    "use sendfile": lambda client: not client.is_signed and not client.is_encrypted,
    "min receivefile size": lambda client: not client.is_signed and not client.is_encrypted,
}
_OF_MANY_FILES = frozenset({"case sensitive", "durable handles", "store dos attributes", "smb2 leases", "oplocks"})


def acts_on(name: str) -> Command | None:
    """The only command that a setting acts on; None for both or unknown."""
    commands = {_ACTS_ON.get(entry.name) for entry in about(name)}
    return commands.pop() if len(commands) == 1 else None


def relevant(series: Series) -> Iterator[CatalogueEntry]:
    """smb.conf settings that can matter to the series, the greatest effect first, each once."""
    seen: set[str] = set()
    for entry in entries():
        usable = entry.kind is EntryKind.SMB_CONF and entry.status is Status.EXISTS and not entry.warning
        usable = usable and entry.name not in _OF_MANY_FILES
        rule = _RULES.get(entry.name)
        usable = usable and _ACTS_ON.get(entry.name, series.command) is series.command
        if usable and entry.parameter not in seen and (rule is None or rule(series.client)):
            seen.add(entry.parameter)
            yield entry
