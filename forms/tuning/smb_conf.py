"""Names and values of parameters of smb.conf as Samba reads them: how they are spelled, and when two are the same.

The parameters and their synonyms are in ``data/parameters.toml``, the words of their choices in ``data/choices.toml``.
A name is *squeezed* to compare it: Samba ignores case and blanks. A value is *tidied*: one word for all
synonyms, plain digits.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from forms.tuning import smb_values
from forms.tuning.samba_parameters import Parameter, ParameterTable, Version, version_numbers

_ROOT = Path(__file__).resolve().parents[2]
"""The folder of our packages."""

_YES = frozenset({"yes", "true", "on", "1"})
_NO = frozenset({"no", "false", "off", "0"})
_SIZE = re.compile(r"\+?(\d+)\s*([kmgtp]?)", re.IGNORECASE)
_LARGEST_SIZE = 2**31 - 1
"""Of a parameter in bytes: smbd keeps it as an int, and refuses what is larger."""
_LAST_PORT = 65535
_UNORDERED = frozenset(
    {"hosts allow", "hosts deny", "valid users", "invalid users", "read list", "write list", "admin users"}
)
"""Lists whose order says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """What a typed name means."""

    typed: str
    name: str
    """Canonical; if unknown, as typed in lower case with single blanks."""
    parameter: Parameter | None
    """None where Samba has none of that name."""
    opposite: bool = False
    """Whether the typed name is the inverse, as ``writeable`` of ``read only``."""

    @property
    def is_synonym(self) -> bool:
        return self.parameter is not None and squeeze(self.typed) != squeeze(self.name)

    def is_too_new_for(self, version: Version) -> bool:
        """Whether that version does not know the name yet; a synonym is a former name, so it does."""
        return self.parameter is not None and not self.is_synonym and self.parameter.is_too_new_for(version)

    def removed_after(self, version: Version) -> Version | None:
        """The last version that had it, where it is removed in that one; else None."""
        if self.parameter is None:
            last = parameter_table().removed.get(squeeze(self.typed))
            return last if last is not None and version[:2] > last else None
        return self.parameter.until if self.parameter.is_removed_in(version) else None


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
    """In lower case without blanks, as Samba compares names; a no-break space is none."""
    return name.translate(smb_values.NO_BLANKS).lower()


@lru_cache(maxsize=4096)
def spelling(typed: str) -> Spelling:
    """What a typed name means; ``module:option`` keeps its words."""
    tables = parameter_table()
    key = squeeze(typed)
    canonical_name = tables.synonyms.get(key) or tables.opposites.get(key)
    parameter = tables.parameters.get(squeeze(canonical_name) if canonical_name else key)
    name = parameter.name if parameter else " ".join(typed.split()).lower()
    return Spelling(typed=typed, name=name, parameter=parameter, opposite=key in tables.opposites)


def former_names(name: str) -> tuple[str, ...]:
    """Other names of a parameter that mean the same: Samba keeps those that it had; ``name`` is canonical."""
    return tuple(
        synonym for synonym, canonical in toml_data("parameters.toml")["synonyms"].items() if canonical == name
    )


def suggestions(typed: str, limit: int = 3) -> tuple[str, ...]:
    """Parameters of similar names; several matches may be spellings of one."""
    # Loaded for a name that nobody knows: most are known.
    from difflib import get_close_matches

    tables = parameter_table()
    keys = [*tables.parameters, *tables.synonyms, *tables.opposites]
    matches = get_close_matches(squeeze(typed), keys, n=3 * limit, cutoff=0.75)
    return tuple(dict.fromkeys(spelling(match).name for match in matches))[:limit]


def tidy_value(name: str, value: str) -> str:
    """A value as it compares: one word for all synonyms, plain digits; ``name`` is canonical."""
    parameter = parameter_table().parameters.get(squeeze(name))
    kind = parameter.kind if parameter else ""
    words = smb_values.with_single_blanks(value).strip('"').lower()
    if name in _choices():
        return _choices()[name].get(squeeze(words)) or words
    if name == "socket options":
        return _tidy_socket_options(words)
    if name == "log level":
        return words.removeprefix("all:")

    # 0 and 1 are numbers unless the parameter is known to be a switch.
    is_switch_word = squeeze(words) in (_YES | _NO) - {"0", "1"}
    if kind == "yes_no" or (kind in ("choice", "") and is_switch_word):
        return _tidy_switch(words)
    if kind == "list" or ("," in words and kind == ""):
        items = words.replace(",", " ").replace(";", " ").split()
        return " ".join(sorted(items) if name in _UNORDERED else items)
    if kind == "octal":
        octal_digits = re.match("[0-7]*", words)
        return (octal_digits[0] if octal_digits else "").lstrip("0") or "0"
    if kind == "number" and words:
        return str(smb_values.read_by_strtol(words))
    return _tidy_number(words)


def _tidy_socket_options(words: str) -> str:
    options = {option: smb_values.read_by_atoi(value) for option, value in smb_values.socket_options(words)}
    return " ".join(f"{option}={value}" for option, value in sorted(options.items()))


def _tidy_switch(words: str) -> str:
    squeezed = squeeze(words)
    if squeezed in _YES:
        return "yes"
    return "no" if squeezed in _NO else words


def same_value(name: str, value: str, other: str) -> bool:
    """Whether Samba takes both values of the parameter as one; ``name`` is canonical."""
    return tidy_value(name, value) == tidy_value(name, other)


def is_default(name: str, value: str, version: Version | None) -> bool:
    """Whether the value is what a version has without the line; ``name`` is canonical.

    Where the version is not known it must be the default of all versions that were read.
    """
    parameter = parameter_table().parameters.get(squeeze(name))
    if parameter is None or not parameter.defaults:
        return False
    if version is None:
        return all(same_value(name, value, default) for default in parameter.defaults.values())
    default = parameter.default_in(version)
    return default is not None and same_value(name, value, default)


def is_switch_word(text: str) -> bool:
    """Whether Samba takes the text for yes or no."""
    return squeeze(text) in _YES | _NO


def opposite_value(value: str) -> str:
    """``no`` for yes, and ``yes`` for no, in any spelling; other values stay."""
    words = squeeze(value)
    if words in _YES:
        return "no"
    return "yes" if words in _NO else value


def refusal(name: str, value: str, version: Version | None = None) -> str | None:
    """Why testparm refuses the value, where smbd stops reading smb.conf; None where it does not.

    What some versions take is no refusal where the version is not known.
    """
    parameter = parameter_table().parameters.get(squeeze(name))
    if parameter is None:
        return None

    words = smb_values.with_single_blanks(value).lower()
    choices = _choices().get(parameter.name)
    if choices:
        is_taken = squeeze(words) in choices or _was_a_word(parameter.name, words, version)
        return None if is_taken else f"{value!r} is none of {', '.join(dict.fromkeys(choices.values()))}"
    if parameter.kind == "yes_no" and squeeze(words) not in _YES | _NO:
        return f"{value!r} is neither yes nor no"
    expected = _expected_number(parameter, words)
    if expected:
        return f"{value!r} is {expected}"
    stranger = _stranger_in_list(parameter.name, value, version)
    if stranger is not None:
        return f"{stranger!r} is none of {', '.join(_listed_words()[parameter.name].words)}"
    words_refused = smb_values.words_without_level(value) if parameter.name == "log level" else ()
    if words_refused:
        return f"{words_refused[0]!r} is no class with its level, such as auth:3"
    return None


def _expected_number(parameter: Parameter, words: str) -> str:
    """What a value is not that has to be a number, or a list of ports; empty where it is one, or need not be."""
    if parameter.kind == "size" and not _is_size(words):
        return "not a size below 2 GiB, such as 65536 or 64K"
    if parameter.kind == "octal" and not re.match("[0-7]", words):
        return "not an octal number, such as 0664"
    if parameter.name == "smb ports" and not _are_ports(words):
        return f"no list of ports from 1 to {_LAST_PORT}, such as 445 139"
    return ""


def _are_ports(value: str) -> bool:
    ports = smb_values.entries_of_list(value)
    return bool(ports) and all(port.isdecimal() and 0 < int(port) <= _LAST_PORT for port in ports)


def _is_size(words: str) -> bool:
    return _SIZE.fullmatch(words) is not None and int(_tidy_number(words)) <= _LARGEST_SIZE


def _was_a_word(name: str, word: str, version: Version | None) -> bool:
    """Whether an older Samba took the word, and the version may be so old."""
    until = _former_words().get(name, {}).get(word)
    return until is not None and (version is None or version[:2] <= until)


def section(parameter: Parameter | None, share: str | None) -> str:
    """The section of smb.conf to write the parameter into: the share's, where it may stand there, or ``[global]``."""
    return f"[{share}]" if parameter is not None and parameter.scope == "share" and share else "[global]"


def release_after(version: Version) -> Version:
    """The first release of the next version of Samba."""
    return (4, 0) if version[:2] == (3, 6) else (version[0], version[1] + 1)


def parameters() -> tuple[Parameter, ...]:
    return tuple(parameter_table().parameters.values())


def _tidy_number(words: str) -> str:
    """A size in bytes, or a number, in decimal digits; other words stay."""
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
    folder = _ROOT.joinpath(*package.split("."), "data")
    return tomllib.loads(folder.joinpath(*names).read_text(encoding="utf-8"))


@cache
def parameter_table() -> ParameterTable:
    raw = toml_data("parameters.toml")
    versions = tuple(version_numbers(row["version"]) for row in raw["read"])
    parameters = [Parameter.from_row(name, row, versions) for name, row in raw["parameters"].items()]
    return ParameterTable(
        versions=versions,
        parameters={squeeze(parameter.name): parameter for parameter in parameters},
        synonyms={squeeze(name): canonical for name, canonical in raw["synonyms"].items()},
        opposites={squeeze(name): canonical for name, canonical in raw["opposites"].items()},
        removed={squeeze(name): version_numbers(version) for name, version in raw["removed"].items()},
    )


@cache
def _choices() -> Mapping[str, Mapping[str, str]]:
    """The words of parameters that have a choice of some, squeezed, each with the one that it means."""
    choices: dict[str, dict[str, str]] = {}
    for row in toml_data("choices.toml")["choice"]:
        words = {squeeze(word): word for word in row["words"]}
        for word, synonyms in row.get("synonyms", {}).items():
            words |= dict.fromkeys(map(squeeze, (word, *synonyms)), word)
        choices |= dict.fromkeys(row["names"], words)
    return choices


class _ListedWords(NamedTuple):
    """The words that a list may have, from the first version on that refuses others."""

    words: tuple[str, ...]
    since: Version


@cache
def _listed_words() -> Mapping[str, _ListedWords]:
    rows = toml_data("choices.toml")["list"]
    return {row["name"]: _ListedWords(tuple(row["words"]), version_numbers(row["since"])) for row in rows}


def _stranger_in_list(name: str, value: str, version: Version | None) -> str | None:
    """The first word that smbd refuses, empty for a list without any; None where it takes all of them."""
    listed = _listed_words().get(name)
    if listed is None or (version is not None and version < listed.since):
        return None
    words = smb_values.entries_of_list(value) or [""]
    return next((word for word in words if word not in listed.words), None)


@cache
def _former_words() -> Mapping[str, Mapping[str, Version]]:
    """By parameter: the words that newer versions refuse, each with the last version that took it."""
    former_words: dict[str, Mapping[str, Version]] = {}
    for row in toml_data("choices.toml")["choice"]:
        words = row.get("former", ())
        if words:
            until = version_numbers(row["former_until"])
            former_words |= dict.fromkeys(row["names"], dict.fromkeys(words, until))
    return former_words


@lru_cache(maxsize=4096)
def parameter_key(name: str) -> str:
    """The same for all names of one parameter, to compare them."""
    return squeeze(spelling(name).name)
