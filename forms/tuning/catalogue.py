"""The catalogue of settings of file servers, clients and networks, in order of impact, and the misprints of a book.

The entries are in ``data/catalogue``. `catalogue_text` prints them, `instructions` says how to set one by hand.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from forms.tuning.smb_conf import same_value, spelling, squeeze, toml_data
from storage import json_reader, records


class EntryKind(StrEnum):
    """Where a setting is made: on the server, in the kernel, at a mount, a network card, the client, a file system.

    A *service* is which program serves.
    """

    SMB_CONF = "smb.conf"
    SYSCTL = "sysctl"
    MOUNT = "mount"
    NIC = "nic"
    CLIENT = "client"
    FILESYSTEM = "filesystem"
    SERVICE = "service"


class Status(StrEnum):
    """Status in current Samba; settings outside smb.conf *exist*."""

    EXISTS = "exists"
    SMB1_ONLY = "smb1-only"
    REMOVED = "removed"
    NEWER = "newer"


class Effect(StrEnum):
    """When a setting takes effect, once it was written and smbd has read its file."""

    RUNNING_SESSIONS = "running sessions"
    NEXT_TREE_CONNECT = "next tree connect"
    NEXT_CONNECTION = "next connection"
    RESTART = "restart"
    REMOUNT = "remount"
    AT_ONCE = "at once"
    NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What must hold for a setting to act."""

    text: str = ""
    """In words."""
    options: Annotated[Mapping[str, str], json_reader.JSONNode.object_or_empty] = field(default_factory=dict)
    """Other smb.conf parameters, by canonical name, with the value each must have."""
    session: tuple[str, ...] = ()
    """``unsigned``, ``unencrypted``, ``encrypted``, ``signed`` or ``smb1``."""
    besides: str = ""
    """What of the text neither a setting nor a session tells, such as what the client asks for; empty for nothing."""

    @property
    def is_more_than_options(self) -> bool:
        """Whether the options do not tell all."""
        return bool(self.session or self.besides)


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueEntry:
    """A setting, or one way to use it."""

    # What it is
    rank: int
    """Its place in the catalogue; 1 is worth most."""
    name: str
    """The entry's; several entries may be about one parameter."""
    parameter: str
    """What is set: a parameter of Samba by its canonical name, a setting of the kernel, an option of a mount."""
    kind: EntryKind = EntryKind.SMB_CONF
    scope: str
    """``global``, ``share`` or ``host``."""

    # What it brings
    does: str
    """What it changes."""
    expect: str
    """What it may gain."""
    sources: tuple[str, ...]
    """Where that is said."""
    measured: str = ""
    """On Samba 4.17.12, one client on the loopback of a small virtual machine."""
    values: tuple[str, ...]
    """To try."""
    suggest: str = ""
    """The value to suggest; empty for the first that is not the default. Of a setting that only costs when it is on."""
    default: str | None = None
    """None where there is none to name; empty where the default is an empty value."""

    # In which versions
    status: Status = Status.EXISTS
    status_note: str = ""
    since: str | None = None
    """The version of Samba that has it first; None for all of today's."""
    removed_in: str | None = None
    replaced_by: tuple[str, ...] = ()

    # When it acts, and what speaks against it
    needs: Needs
    takes_effect: Effect
    effect_note: str = ""
    seen_by: str = ""
    """How one sees that it acts."""
    risk: str
    """For people: what may go wrong with it, or that nothing may."""
    risks: Annotated[Mapping[str, str], json_reader.JSONNode.object_or_empty] = field(default_factory=dict)
    """The same by value, where it is not alike for all of them; a sentence that begins with a small letter."""
    warning: str = ""
    """Why it is not tried without being asked for; empty where it may be."""
    synonyms: tuple[str, ...] = ()
    worth_trying: bool = False
    """Whether it is among those that are worth most today."""

    @property
    def is_history(self) -> bool:
        """Whether no SMB session of today is affected by it."""
        return self.status in _PLACE_IN_HISTORY


def risk_with_value(entry: CatalogueEntry, value: str) -> str:
    """What may go wrong with that value, as ``no: a power cut may …``; the risk of the setting where all are alike."""
    for name, risk in entry.risks.items():
        if _is_same_value(entry, name, value):
            return f"{name or '(empty)'}: {risk}"
    return entry.risk


def _is_same_value(entry: CatalogueEntry, value: str, other: str) -> bool:
    if entry.kind is EntryKind.SMB_CONF:
        return same_value(entry.parameter, value, other)
    return value.casefold() == other.casefold()


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
        # False sorts before True: each is whether the entry lacks what brings it nearer.
        has_all_words = all(word in names for word in words)
        return key != squeeze(entry.name), key not in _keys(entry), not has_all_words

    matches = []
    for entry in entries():
        entry_text = _text_of(entry)
        if all(word in entry_text for word in words) or key in _keys(entry):
            matches.append(entry)
    return tuple(sorted(matches, key=distance))


def _keys(entry: CatalogueEntry) -> set[str]:
    """The names that mean this entry, as they are compared."""
    return {squeeze(name) for name in (entry.name, *entry.synonyms)}


def _text_of(entry: CatalogueEntry) -> str:
    names = (entry.name, entry.parameter, *entry.synonyms, entry.kind, entry.scope)
    return " ".join((*names, entry.does, entry.expect, entry.risk, *entry.risks.values())).lower()


def _closest(name: str) -> tuple[str, ...]:
    """Up to three entries or parameters with similar names."""
    from difflib import get_close_matches

    name_by_key: dict[str, str] = {}
    for entry in entries():
        name_by_key |= dict.fromkeys(sorted(_keys(entry)), entry.name)
    name_by_key |= {squeeze(entry.parameter): entry.parameter for entry in entries()}
    matches = get_close_matches(squeeze(name), name_by_key, n=6, cutoff=0.6)
    return tuple(dict.fromkeys(name_by_key[key] for key in matches))[:3]


_PLACE_IN_HISTORY: dict[Status | None, int] = {Status.SMB1_ONLY: 1, Status.REMOVED: 2}
"""Behind all other entries, in this order."""


@cache
def entries() -> tuple[CatalogueEntry, ...]:
    """All entries: first what is worth most today, then the others, then history."""
    folder = Path(__file__).with_name("data") / "catalogue"
    files = sorted(file.name for file in folder.iterdir() if file.name.endswith(".toml"))
    items: list[dict[str, Any]] = []
    for file in files:
        items += toml_data("catalogue", file)["entry"]

    place_by_name = {name: place for place, name in enumerate(toml_data("today.toml")["first"])}
    unknown_names = place_by_name.keys() - {item["name"] for item in items}
    if unknown_names:
        raise ValueError(f"today.toml names what the catalogue has not: {sorted(unknown_names)}")

    # Entries that are alike in both stay in the order of the files.
    def place_in_order(item: Mapping[str, Any]) -> tuple[int, int]:
        in_history = _PLACE_IN_HISTORY.get(item.get("status"), 0)
        return in_history, place_by_name.get(item["name"], len(place_by_name))

    catalogue = []
    for rank, item in enumerate(sorted(items, key=place_in_order), start=1):
        worth_trying = item["name"] in place_by_name and not item.get("warning")
        catalogue.append(_entry(rank, item | {"worth_trying": worth_trying}))
    return tuple(catalogue)


def _folded(item: Mapping[str, Any]) -> dict[str, Any]:
    """With each text on one line, which the file may wrap; that of a table in it too."""
    return {key: _folded_value(value) for key, value in item.items()}


def _folded_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _folded(value)
    return " ".join(value.split()) if isinstance(value, str) else value


def _entry(rank: int, raw: Mapping[str, Any]) -> CatalogueEntry:
    """From its table in the file. Raises DocumentError for a key that an entry does not have."""
    folded = _folded(raw)
    item = {"rank": rank, "parameter": folded["name"], **folded}
    item["needs"] = {
        "text": item.get("needs"),
        "options": item.pop("needs_options", None),
        "session": item.pop("needs_session", None),
        "besides": item.pop("needs_besides", None),
    }
    unknown_keys = item.keys() - CatalogueEntry.__dataclass_fields__.keys()
    if unknown_keys:
        raise json_reader.DocumentError(f"{item['name']}: nothing is called {', '.join(unknown_keys)}")
    return json_reader.JSONNode(item["name"], item).record(CatalogueEntry)


@dataclass(frozen=True, slots=True, kw_only=True)
class Misprint:
    """A mistake in a book that the catalogue or the tables are taken from."""

    key: str
    source: str
    """The book and the place."""
    printed: str
    """What is printed there."""
    right: str
    """What is right, as the end of a sentence."""
    about: tuple[str, ...]
    """The names of the entries or tables that it is about."""
    numbers: tuple[float, ...] = ()
    """The right figures, where it is about figures."""

    @property
    def sentence(self) -> str:
        return f'{self.source}: "{self.printed}" {self.right}'


@cache
def misprints() -> tuple[Misprint, ...]:
    items = map(_folded, toml_data("misprints.toml")["misprint"])
    return tuple(json_reader.JSONNode(item["key"], item).record(Misprint) for item in items)


def misprints_about(*names: str) -> tuple[Misprint, ...]:
    """The misprints that are about an entry or a table of one of these names."""
    keys = {name.casefold() for name in names}
    return tuple(misprint for misprint in misprints() if keys.intersection(map(str.casefold, misprint.about)))


# Which entries can matter to a series, by what it measured

_ACTS_ON = {
    "aio read size": records.Command.GET,
    "use sendfile": records.Command.GET,
    "aio write size": records.Command.PUT,
    "strict sync": records.Command.PUT,
    "sync always": records.Command.PUT,
    "strict allocate": records.Command.PUT,
    "min receivefile size": records.Command.PUT,
}
"""Entries that affect only a get, or only a put."""


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
"""Entries that act in certain sessions alone, and whether a session is such a one."""
_OF_MANY_FILES = frozenset({"case sensitive", "durable handles", "store dos attributes", "smb2 leases", "oplocks"})
"""Entries that matter to work on many files, not to the transfer of one."""


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
