"""Names and values of smb.conf as Samba reads them, and of facts: ``smb.conf/share/strict sync``, or dotted words."""

import difflib
import operator
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cache, lru_cache, partial
from importlib import resources
from typing import Any

from storage.looks import AuditedSetting
from storage.records import ClientFacts, Facts

_YES = frozenset({"yes", "true", "on", "1"})
_NO = frozenset({"no", "false", "off", "0"})
_SIZE = re.compile(r"(\d+)([kmgtp]?)", re.IGNORECASE)
_UNORDERED = frozenset(
    {"hosts allow", "hosts deny", "valid users", "invalid users", "read list", "write list", "admin users"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    name: str
    scope: str
    """``global`` or ``share``, which may stand in [global] as the default of all shares."""
    kind: str
    """``yes_no``, ``choice``, ``number``, ``octal``, ``size`` (bytes, K, M, G), ``list`` or ``text``."""
    newer: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    typed: str
    name: str
    """Canonical; if unknown, as typed in lower case with single blanks."""
    parameter: Parameter | None
    opposite: bool = False
    """Whether the typed name is the inverse, as ``writeable`` of ``read only``."""

    @property
    def is_synonym(self) -> bool:
        return self.parameter is not None and squeeze(self.typed) != squeeze(self.name)


def hiding_pattern(veto_files: str, path: str) -> str | None:
    names = [name.casefold() for name in path.replace("\\", "/").split("/") if name]
    for pattern in filter(None, veto_files.split("/")):
        expression = "".join({"*": ".*", "?": "."}.get(letter, re.escape(letter)) for letter in pattern.casefold())
        if any(re.fullmatch(expression, name) for name in names):
            return pattern
    return None


def squeeze(name: str) -> str:
    """In lower case without blanks, as Samba compares names."""
    return "".join(name.split()).lower()


@lru_cache(maxsize=4096)
def spelling(typed: str) -> Spelling:
    """What a typed name means; ``module:option`` keeps its words."""
    parameters, synonyms, opposites = _tables()
    key = squeeze(typed)
    name = synonyms.get(key) or opposites.get(key)
    parameter = parameters.get(squeeze(name) if name else key)
    plain = " ".join(typed.split()).lower()
    return Spelling(
        typed=typed, name=parameter.name if parameter else plain, parameter=parameter, opposite=key in opposites
    )


def suggestions(typed: str, limit: int = 3) -> tuple[str, ...]:
    parameters, synonyms, opposites = _tables()
    close = difflib.get_close_matches(squeeze(typed), [*parameters, *synonyms, *opposites], n=3 * limit, cutoff=0.75)
    return tuple(dict.fromkeys(spelling(match).name for match in close))[:limit]


def tidy_value(name: str, value: str) -> str:
    """A value as it compares: one word for all synonyms, plain digits; ``name`` is canonical."""
    parameter = _tables()[0].get(squeeze(name))
    words = " ".join(value.split()).strip('"').lower()
    kind = parameter.kind if parameter else ""
    if name in _choices():
        return _choices()[name].get(words) or words
    if name == "socket options":
        options: dict[str, str] = {}
        for word in words.replace(",", " ").split():
            option, _, value = word.partition("=")
            options[option] = _tidy_number(value) if value else "1"
        return " ".join(f"{option}={value}" for option, value in sorted(options.items()))
    if name == "log level":
        return words.removeprefix("all:")
    if (kind in ("yes_no", "choice", "") and words in (_YES | _NO) - {"0", "1"}) or kind == "yes_no":
        return "yes" if words in _YES else "no" if words in _NO else words
    if kind == "list" or ("," in words and kind == ""):
        items = words.replace(",", " ").replace(";", " ").split()
        return " ".join(sorted(items) if name in _UNORDERED else items)
    return words.lstrip("0") or "0" if kind == "octal" else _tidy_number(words)


def same_value(name: str, one: str, other: str) -> bool:
    return tidy_value(name, one) == tidy_value(name, other)


def opposite_value(value: str) -> str:
    words = value.strip().lower()
    return "no" if words in _YES else "yes" if words in _NO else value


def refusal(name: str, value: str) -> str | None:
    """Why testparm refuses the value, where smbd stops reading smb.conf; None where it does not."""
    parameter = _tables()[0].get(squeeze(name))
    words = " ".join(value.split()).lower()
    if parameter is None:
        return None
    if choices := _choices().get(parameter.name):
        return None if words in choices else f"{value!r} is none of {', '.join(choices)}"
    if parameter.kind == "yes_no" and words not in _YES | _NO:
        return f"{value!r} is neither yes nor no"
    if parameter.kind == "size" and not _SIZE.fullmatch(words):
        return f"{value!r} is not a size in bytes, such as 65536 or 64K"
    return None


def section(parameter: Parameter | None, share: str | None) -> str:
    return f"[{share}]" if parameter is not None and parameter.scope == "share" and share else "[global]"


def parameters() -> tuple[Parameter, ...]:
    return tuple(_tables()[0].values())


def _tidy_number(words: str) -> str:
    size = _SIZE.fullmatch(words)
    if size:
        return str(int(size[1]) * 1024 ** " kmgtp".index(size[2] or " "))
    try:
        return str(int(words, 0))
    except ValueError:
        return words


@cache
def toml_data(*names: str, package: str = "forms.tuning") -> dict[str, Any]:
    """A file of ``data``, read once: what it returns is everyone's, so nobody changes it."""
    return tomllib.loads(resources.files(package).joinpath("data", *names).read_text(encoding="utf-8"))


@cache
def _tables() -> tuple[Mapping[str, Parameter], Mapping[str, str], Mapping[str, str]]:
    raw = toml_data("parameters.toml")
    parameters = {
        squeeze(name): Parameter(name=name, scope=scope, kind=kind, newer=newer)
        for newer, scopes in ((False, raw), (True, raw["newer"]))
        for scope in ("share", "global")
        for kind, names in scopes[scope].items()
        for name in names
    }
    synonyms = {squeeze(name): canonical for name, canonical in raw["synonyms"].items()}
    return parameters, synonyms, {squeeze(name): canonical for name, canonical in raw["opposites"].items()}


@cache
def _choices() -> Mapping[str, Mapping[str, str]]:
    """The words of parameters that have a choice of some, each with the one that it means."""
    found: dict[str, dict[str, str]] = {}
    for row in toml_data("parameters.toml")["choice"]:
        words = {word: word for word in row["words"]}
        for word, synonyms in row.get("synonyms", {}).items():
            words |= dict.fromkeys((word, *synonyms), word)
        found |= dict.fromkeys(row["names"], words)
    return found


@dataclass(frozen=True, slots=True)
class SmbConfFile:
    settings: tuple[AuditedSetting, ...] = ()
    missing_includes: tuple[str, ...] = ()
    per_client_includes: tuple[str, ...] = ()
    malformed: tuple[str, ...] = ()
    uses_registry: bool = False

    def last(self, section: str, name: str) -> str | None:
        wanted = (section.lower(), parameter_key(name))
        found = (one.value for one in reversed(self.settings) if (one.section, parameter_key(one.name)) == wanted)
        return next(found, None)


@dataclass(slots=True)
class _FileReading:
    files: Mapping[str, str]
    settings: list[AuditedSetting] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    per_client: list[str] = field(default_factory=list)
    malformed: list[str] = field(default_factory=list)
    registry: bool = False
    open: list[str] = field(default_factory=list)

    def read(self, file: str, section: str) -> str:
        for number, line in _logical_lines(self.files.get(file, "")):
            if line.startswith("["):
                section = line[1:].partition("]")[0].strip().lower()
                continue
            name, equals, value = (part.strip() for part in line.partition("="))
            if not equals:
                self.malformed.append(line)
                continue
            lowered = " ".join(name.lower().split())
            if lowered == "include":
                section = self._include(value, section)
            elif lowered == "config backend" and value.lower() == "registry":
                self.registry = True
                self.settings.clear()
                section = self.read("registry", "global")
            else:
                self.settings.append(AuditedSetting(section=section, name=name, value=value, file=file, line=number))
        return section

    def _include(self, value: str, section: str) -> str:
        is_registry = value.lower() == "registry"
        self.registry |= is_registry
        if "%" in value:
            self.per_client.append(value)
        elif value not in (*self.open, *self.files) and not is_registry:
            self.missing.append(value)
        elif value in self.files and value not in self.open:
            self.open.append(value)
            section = self.read(value, section)
            self.open.pop()
        return section


def read_conf(path: str, files: Mapping[str, str]) -> SmbConfFile:
    """The settings of the smb.conf at ``path``; ``files`` maps paths to text, ``registry`` to ``net conf list``."""
    reading = _FileReading(files=files, open=[path])
    reading.read(path, "global")
    missing, per_client, malformed = map(tuple, (reading.missing, reading.per_client, reading.malformed))
    return SmbConfFile(tuple(reading.settings), missing, per_client, malformed, reading.registry)


@lru_cache(maxsize=4096)
def parameter_key(name: str) -> str:
    return squeeze(spelling(name).name)


def file_lines(text: str) -> list[str]:
    """Lines as Samba and `patch` count them: a line feed alone ends one, and stays with it."""
    return [line for line in re.split(r"(?<=\n)", text) if line]


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    kept, start = "", 0
    for number, raw in enumerate(file_lines(text), start=1):
        line = raw.strip()
        if not kept and line[:1] in {"#", ";"}:
            continue
        start = start if kept else number
        if line.endswith("\\"):
            kept += line[:-1]
            continue
        if kept + line:
            yield start, (kept + line).strip()
        kept = ""
    if kept:
        yield start, kept.strip()


PARAMETER_PREFIX = "smb.conf/"
CONF_STATE, CONF_WARNINGS, CONF_SET = "smb.conf.state", "smb.conf.warnings", "smb.conf.set"
FACTS_UNKNOWN = "facts.unknown"
"""The fact that says why the facts of a server could not be read."""
_BETWEEN = "; "


class ConfState(StrEnum):
    LOADS = "loads"
    WARNS = "loads with warnings"
    LOADS_NOT = "does not load"
    UNREADABLE = "not readable"


def in_one_fact(lines: Iterable[str]) -> str:
    """A list as a fact, for :func:`lines_of_fact`."""
    return _BETWEEN.join(line.replace(_BETWEEN, ", ") for line in dict.fromkeys(lines))


def lines_of_fact(facts: Facts, name: str) -> list[str]:
    return [line for line in str(facts.get(name, "")).split(_BETWEEN) if line]


_UNITS = ("_bits_per_second", "_bytes_per_second", "_bytes", "_seconds", "_percent")
_CAPITALS = {"tcp": "TCP", "cpu": "CPU", "mtu": "MTU", "smb": "SMB", "ip": "IP", "crc": "CRC", "rx": "received"}
_CAPITALS["tx"] = "sent"
_facts_data = partial(toml_data, "facts.toml")


def is_volatile(name: str) -> bool:
    return not name.startswith(PARAMETER_PREFIX) and any(
        fnmatchcase(name, pattern) for pattern in _facts_data()["volatile"]
    )


def human_name(name: str) -> str:
    """A fact's name on a form: *duplex* for ``link.duplex``; parameters keep theirs."""
    if name.startswith(PARAMETER_PREFIX):
        _, scope, parameter = name.split("/", 2)
        return f"{parameter} (smb.conf)" if scope == "global" else f"{parameter} (smb.conf, this share)"
    if known := _facts_data()["names"].get(name):
        return str(known)
    for unit in _UNITS:
        name = name.removesuffix(unit)
    return " ".join(_CAPITALS.get(word, word) for word in name.replace(".", " ").replace("_", " ").split())


_DIALECTS = ("2.0.2", "2.1", "3.0", "3.0.2", "3.1.1")
_PROTOCOL_DIALECTS = {"smb2_02": "2.0.2", "smb2": "2.1", "smb3_00": "3.0", "smb3_02": "3.0.2", "smb3": "3.1.1"}
_SMB3 = _DIALECTS[2:]


def dialect_rank(dialect: str) -> int:
    return _DIALECTS.index(dialect) if dialect in _DIALECTS else -1


def follows(difference: str, parameter: str) -> bool:
    return any(fnmatchcase(difference, pattern) for pattern in _facts_data()["follow"].get(parameter, ()))


def contradiction(parameter: str, value: str, client: ClientFacts) -> str | None:
    """Why the session contradicts that value (smb.conf(5) of Samba 4.17, MS-SMB2 3.1.4.1), or None."""
    check = _CHECKS.get(parameter)
    return check(tidy_value(parameter, value), client) if check and client.dialect else None


def agreement(parameter: str, value: str, before: ClientFacts, after: ClientFacts) -> str | None:
    if contradiction(parameter, value, after):
        return None
    shown = [
        f"{part} {getattr(before, part) or 'unknown'} -> {getattr(after, part)}"
        for part in ("dialect", "signing", "encryption")
        if follows(f"client.{part}", parameter) and getattr(before, part) != getattr(after, part)
    ]
    return ", ".join(shown) or None


def _encryption(value: str, client: ClientFacts) -> str | None:
    encrypted = client.is_encrypted
    if value == "required" and not encrypted:
        return "the session is not encrypted"
    if value == "desired" and not encrypted and client.dialect in _SMB3:
        return "the session is not encrypted, although its dialect could be"
    return f"the session is encrypted ({client.encryption})" if value == "no" and encrypted else None


def _signing(value: str, client: ClientFacts) -> str | None:
    unsigned = not client.is_signed and not client.is_encrypted
    return "the session is not signed" if value == "required" and unsigned else None


def _listed(value: str, negotiated: str | None, words: str) -> str | None:
    if negotiated in (None, "none") or any(item[:1] in "+-" for item in value.split()):
        return None
    return None if negotiated in value.split() else f"the session is {words} {negotiated}"


def _bounded(value: str, client: ClientFacts, within: Callable[[int, int], bool]) -> str | None:
    limit = _PROTOCOL_DIALECTS.get(value)
    if limit is None or client.dialect not in _DIALECTS:
        return None
    told = within(_DIALECTS.index(client.dialect), _DIALECTS.index(limit))
    return None if told else f"the session speaks SMB {client.dialect}"


_CHECKS: Mapping[str, Callable[[str, ClientFacts], str | None]] = {
    "server smb encrypt": _encryption,
    "server signing": _signing,
    "server smb3 encryption algorithms": lambda value, client: _listed(value, client.encryption, "encrypted with"),
    "server smb3 signing algorithms": lambda value, client: _listed(
        value.replace("aes-128-", "aes-"), client.signing, "signed with"
    ),
    "server max protocol": lambda value, client: _bounded(value, client, operator.le),
    "server min protocol": lambda value, client: _bounded(value, client, operator.ge),
}
