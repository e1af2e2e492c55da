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


_WILDCARDS = {"*": ".*", "?": "."}


def hiding_pattern(veto_files: str, path: str) -> str | None:
    """The pattern of ``veto files`` that hides a file or a folder above it."""
    names = [name.casefold() for name in path.replace("\\", "/").split("/") if name]
    for pattern in filter(None, veto_files.split("/")):
        expression = "".join(_WILDCARDS.get(letter, re.escape(letter)) for letter in pattern.casefold())
        if any(re.fullmatch(expression, name) for name in names):
            return pattern
    return None


def squeeze(name: str) -> str:
    """In lower case without blanks, as Samba compares names."""
    return "".join(name.split()).lower()


@lru_cache(maxsize=4096)
def spelling(typed: str) -> Spelling:
    """What a typed name means; ``module:option`` keeps its words."""
    tables = _tables()
    key = squeeze(typed)
    canonical_name = tables.synonyms.get(key) or tables.opposites.get(key)
    parameter = tables.parameters.get(squeeze(canonical_name) if canonical_name else key)
    name = parameter.name if parameter else " ".join(typed.split()).lower()
    return Spelling(typed=typed, name=name, parameter=parameter, opposite=key in tables.opposites)


def suggestions(typed: str, limit: int = 3) -> tuple[str, ...]:
    """Parameters of similar names; several matches may be spellings of one."""
    tables = _tables()
    keys = [*tables.parameters, *tables.synonyms, *tables.opposites]
    matches = difflib.get_close_matches(squeeze(typed), keys, n=3 * limit, cutoff=0.75)
    return tuple(dict.fromkeys(spelling(match).name for match in matches))[:limit]


def tidy_value(name: str, value: str) -> str:
    """A value as it compares: one word for all synonyms, plain digits; ``name`` is canonical."""
    parameter = _tables().parameters.get(squeeze(name))
    kind = parameter.kind if parameter else ""
    words = " ".join(value.split()).strip('"').lower()
    if name in _choices():
        return _choices()[name].get(words) or words
    if name == "socket options":
        return _tidy_socket_options(words)
    if name == "log level":
        return words.removeprefix("all:")

    # 0 and 1 are numbers unless the parameter is known to be a switch.
    is_switch_word = words in (_YES | _NO) - {"0", "1"}
    if kind == "yes_no" or (kind in ("choice", "") and is_switch_word):
        return _tidy_switch(words)
    if kind == "list" or ("," in words and kind == ""):
        items = words.replace(",", " ").replace(";", " ").split()
        return " ".join(sorted(items) if name in _UNORDERED else items)
    if kind == "octal":
        return words.lstrip("0") or "0"
    return _tidy_number(words)


def _tidy_socket_options(words: str) -> str:
    options: dict[str, str] = {}
    for word in words.replace(",", " ").split():
        option, _, value = word.partition("=")
        options[option] = _tidy_number(value) if value else "1"
    return " ".join(f"{option}={value}" for option, value in sorted(options.items()))


def _tidy_switch(words: str) -> str:
    if words in _YES:
        return "yes"
    return "no" if words in _NO else words


def same_value(name: str, value: str, other: str) -> bool:
    return tidy_value(name, value) == tidy_value(name, other)


def opposite_value(value: str) -> str:
    words = value.strip().lower()
    if words in _YES:
        return "no"
    return "yes" if words in _NO else value


def refusal(name: str, value: str) -> str | None:
    """Why testparm refuses the value, where smbd stops reading smb.conf; None where it does not."""
    parameter = _tables().parameters.get(squeeze(name))
    if parameter is None:
        return None

    words = " ".join(value.split()).lower()
    choices = _choices().get(parameter.name)
    if choices:
        return None if words in choices else f"{value!r} is none of {', '.join(choices)}"
    if parameter.kind == "yes_no" and words not in _YES | _NO:
        return f"{value!r} is neither yes nor no"
    if parameter.kind == "size" and not _SIZE.fullmatch(words):
        return f"{value!r} is not a size in bytes, such as 65536 or 64K"
    return None


def section(parameter: Parameter | None, share: str | None) -> str:
    return f"[{share}]" if parameter is not None and parameter.scope == "share" and share else "[global]"


def parameters() -> tuple[Parameter, ...]:
    return tuple(_tables().parameters.values())


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tables:
    """By squeezed name: the parameters, and the canonical names of other spellings."""

    parameters: Mapping[str, Parameter]
    synonyms: Mapping[str, str]
    opposites: Mapping[str, str]


@cache
def _tables() -> _Tables:
    raw = toml_data("parameters.toml")
    return _Tables(
        parameters=_parameters_of(raw, newer=False) | _parameters_of(raw["newer"], newer=True),
        synonyms={squeeze(name): canonical for name, canonical in raw["synonyms"].items()},
        opposites={squeeze(name): canonical for name, canonical in raw["opposites"].items()},
    )


def _parameters_of(raw: Mapping[str, Any], *, newer: bool) -> dict[str, Parameter]:
    parameters = {}
    for scope in ("share", "global"):
        for kind, names in raw[scope].items():
            for name in names:
                parameters[squeeze(name)] = Parameter(name=name, scope=scope, kind=kind, newer=newer)
    return parameters


@cache
def _choices() -> Mapping[str, Mapping[str, str]]:
    """The words of parameters that have a choice of some, each with the one that it means."""
    choices: dict[str, dict[str, str]] = {}
    for row in toml_data("parameters.toml")["choice"]:
        words = {word: word for word in row["words"]}
        for word, synonyms in row.get("synonyms", {}).items():
            words |= dict.fromkeys((word, *synonyms), word)
        choices |= dict.fromkeys(row["names"], words)
    return choices


@dataclass(frozen=True, slots=True)
class SmbConfFile:
    settings: tuple[AuditedSetting, ...] = ()
    missing_includes: tuple[str, ...] = ()
    per_client_includes: tuple[str, ...] = ()
    malformed: tuple[str, ...] = ()
    uses_registry: bool = False

    def last(self, section: str, name: str) -> str | None:
        """The value that counts: the last one that is set there."""
        key = parameter_key(name)
        for setting in reversed(self.settings):
            if setting.section == section.lower() and parameter_key(setting.name) == key:
                return setting.value
        return None


@dataclass(slots=True)
class _FileReading:
    files: Mapping[str, str]
    settings: list[AuditedSetting] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    per_client: list[str] = field(default_factory=list)
    malformed: list[str] = field(default_factory=list)
    registry: bool = False
    open: list[str] = field(default_factory=list)
    """The files that include each other at this place: none of them is read again inside itself."""

    def read(self, file: str, section: str) -> str:
        """Returns the section that the file leaves open."""
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
    return SmbConfFile(
        settings=tuple(reading.settings),
        missing_includes=tuple(reading.missing),
        per_client_includes=tuple(reading.per_client),
        malformed=tuple(reading.malformed),
        uses_registry=reading.registry,
    )


@lru_cache(maxsize=4096)
def parameter_key(name: str) -> str:
    return squeeze(spelling(name).name)


def file_lines(text: str) -> list[str]:
    """Lines as Samba and `patch` count them: a line feed alone ends one, and stays with it."""
    return [line for line in re.split(r"(?<=\n)", text) if line]


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines and the numbers that they begin at; a backslash at the end joins the next line to it."""
    beginning = ""
    start = 0
    for number, raw_line in enumerate(file_lines(text), start=1):
        line = raw_line.strip()
        if not beginning and line[:1] in {"#", ";"}:
            continue
        if not beginning:
            start = number

        if line.endswith("\\"):
            beginning += line[:-1]
            continue
        if beginning + line:
            yield start, (beginning + line).strip()
        beginning = ""
    if beginning:
        yield start, beginning.strip()


PARAMETER_PREFIX = "smb.conf/"
CONF_STATE = "smb.conf.state"
CONF_WARNINGS = "smb.conf.warnings"
CONF_SET = "smb.conf.set"
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
_WORDS = {
    "tcp": "TCP",
    "cpu": "CPU",
    "mtu": "MTU",
    "smb": "SMB",
    "ip": "IP",
    "crc": "CRC",
    "rx": "received",
    "tx": "sent",
}
"""Words of a fact's name, and what stands for them on a form."""
_facts_data = partial(toml_data, "facts.toml")


def is_volatile(name: str) -> bool:
    """Whether a fact changes by itself from one recording to the next."""
    if name.startswith(PARAMETER_PREFIX):
        return False
    return any(fnmatchcase(name, pattern) for pattern in _facts_data()["volatile"])


def human_name(name: str) -> str:
    """A fact's name on a form: *duplex* for ``link.duplex``; parameters keep theirs."""
    if name.startswith(PARAMETER_PREFIX):
        _, scope, parameter = name.split("/", 2)
        return f"{parameter} (smb.conf)" if scope == "global" else f"{parameter} (smb.conf, this share)"

    listed_name = _facts_data()["names"].get(name)
    if listed_name:
        return str(listed_name)

    for unit in _UNITS:
        name = name.removesuffix(unit)
    words = name.replace(".", " ").replace("_", " ").split()
    return " ".join(_WORDS.get(word, word) for word in words)


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
    """What of the session changed with the parameter; None where nothing did, or where it contradicts the value."""
    if contradiction(parameter, value, after):
        return None

    changes = []
    for part in ("dialect", "signing", "encryption"):
        part_before = getattr(before, part)
        part_after = getattr(after, part)
        if follows(f"client.{part}", parameter) and part_before != part_after:
            changes.append(f"{part} {part_before or 'unknown'} -> {part_after}")
    return ", ".join(changes) or None


def _encryption(value: str, client: ClientFacts) -> str | None:
    if client.is_encrypted:
        return f"the session is encrypted ({client.encryption})" if value == "no" else None
    if value == "required":
        return "the session is not encrypted"
    if value == "desired" and client.dialect in _SMB3:
        return "the session is not encrypted, although its dialect could be"
    return None


def _signing(value: str, client: ClientFacts) -> str | None:
    unsigned = not client.is_signed and not client.is_encrypted
    return "the session is not signed" if value == "required" and unsigned else None


def _encryption_algorithm(value: str, client: ClientFacts) -> str | None:
    return _algorithm(value, client.encryption, "encrypted with")


def _signing_algorithm(value: str, client: ClientFacts) -> str | None:
    return _algorithm(value.replace("aes-128-", "aes-"), client.signing, "signed with")


def _algorithm(value: str, negotiated: str | None, words: str) -> str | None:
    # With a sign the list is Samba's own, changed by that item: what it holds is not known.
    if negotiated in (None, "none") or any(item[:1] in "+-" for item in value.split()):
        return None
    return None if negotiated in value.split() else f"the session is {words} {negotiated}"


def _highest_dialect(value: str, client: ClientFacts) -> str | None:
    return _dialect(value, client, operator.le)


def _lowest_dialect(value: str, client: ClientFacts) -> str | None:
    return _dialect(value, client, operator.ge)


def _dialect(value: str, client: ClientFacts, is_within: Callable[[int, int], bool]) -> str | None:
    limit = _PROTOCOL_DIALECTS.get(value)
    if limit is None or client.dialect not in _DIALECTS:
        return None
    if is_within(dialect_rank(client.dialect), dialect_rank(limit)):
        return None
    return f"the session speaks SMB {client.dialect}"


_CHECKS: Mapping[str, Callable[[str, ClientFacts], str | None]] = {
    "server smb encrypt": _encryption,
    "server signing": _signing,
    "server smb3 encryption algorithms": _encryption_algorithm,
    "server smb3 signing algorithms": _signing_algorithm,
    "server max protocol": _highest_dialect,
    "server min protocol": _lowest_dialect,
}
