"""Changes of a configuration of Samba: those that mean the same, those that hide a part, those that spoil a line.

Each takes the text and a source of chance, and returns the files of the changed configuration by name; ``smb.conf`` is
the one that is audited.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from forms.tuning import smb_conf

MAIN = "smb.conf"
Files = dict[str, bytes]

_WORDS = {
    "yes": ("yes", "Yes", "YES", "true", "True", "on", "1", "y es"),
    "no": ("no", "No", "NO", "false", "off", "0", "n o"),
}
_COMMENTS = (
    "# a comment",
    "; log level = 10",
    "   # vfs objects = nosuch",
    "#",
    ";;;; [ghost]",
    "\t; ends in a backslash \\",
    "# Kommentar über Größe",
    "#path = /nowhere",
)
_JUNK = (
    "this line says nothing",
    "log level",
    "<VirtualHost>",
    "read only: no",
    "-----",
    "}",
)
_NOT_A_WORD = ("maybe", "oui", "ja", "yes!", "2", "enabled?", "yes #", "no ; not")


@dataclass(slots=True)
class Line:
    """A parameter of the text."""

    section: str
    name: str
    value: str

    def text(self) -> str:
        return f"    {self.name} = {self.value}"


@dataclass(slots=True)
class Section:
    name: str
    lines: list[Line] = field(default_factory=list)

    def text(self) -> str:
        return "\n".join([f"[{self.name}]", *(line.text() for line in self.lines)])


def sections_of(text: str) -> list[Section]:
    sections: list[Section] = []
    for line in text.splitlines():
        if line.startswith("["):
            sections.append(Section(line[1:-1]))
        elif line.strip():
            name, _, value = (part.strip() for part in line.partition("="))
            if not sections:
                # What stands before the first section is of [global].
                sections.append(Section("global"))
            sections[-1].lines.append(Line(sections[-1].name, name, value))
    return sections


def text_of(sections: Sequence[Section]) -> str:
    return "\n".join(section.text() for section in sections) + "\n"


def _one_file(text: str) -> Files:
    return {MAIN: text.encode("utf-8")}


def _each_line(text: str, change: Callable[[Line], Line]) -> Files:
    sections = sections_of(text)
    for section in sections:
        section.lines = [change(line) for line in section.lines]
    return _one_file(text_of(sections))


# Changes that mean the same


def blanks(text: str, chance: random.Random) -> Files:
    lines = []
    for line in text.splitlines():
        before = chance.choice(("", " ", "\t", "      "))
        behind = chance.choice(("", "  ", "\t"))
        equals = chance.choice(("=", " =", "=  ", "\t=\t"))
        name, sign, value = line.strip().partition(" = ")
        lines.append(f"{before}{name}{equals}{value}{behind}" if sign else f"{before}{line.strip()}{behind}")
    return _one_file("\n".join(lines) + chance.choice(("", "\n", "\n\n\n")))


def letter_case(text: str, chance: random.Random) -> Files:
    sections = sections_of(text)
    for section in sections:
        section.name = _cased(section.name, chance)
        for line in section.lines:
            line.name = _cased(line.name, chance)
    return _one_file(text_of(sections))


def _cased(name: str, chance: random.Random) -> str:
    return chance.choice((name.upper(), name.title(), name))


def name_blanks(text: str, chance: random.Random) -> Files:
    def change(line: Line) -> Line:
        if ":" in line.name:
            return line
        between = chance.choice(("", "  ", " \t"))
        return Line(line.section, line.name.replace(" ", between), line.value)

    return _each_line(text, change)


def comments(text: str, chance: random.Random) -> Files:
    lines = text.splitlines()
    for _ in range(chance.randint(1, 6)):
        lines.insert(chance.randrange(len(lines) + 1), chance.choice(_COMMENTS))
    return _one_file("\n".join(lines) + "\n")


def order(text: str, chance: random.Random) -> Files:
    sections = sections_of(text)
    for section in sections:
        # What is copied counts from that line on.
        if not any(line.name == "copy" for line in section.lines):
            chance.shuffle(section.lines)
    return _one_file(text_of(sections))


def order_of_shares(text: str, chance: random.Random) -> Files:
    sections = sections_of(text)
    first = [section for section in sections if section.name == "global"]
    shares = [section for section in sections if section.name != "global"]
    if not any(line.name == "copy" for section in shares for line in section.lines):
        chance.shuffle(shares)
    return _one_file(text_of([*first, *shares]))


def joined_lines(text: str, chance: random.Random) -> Files:
    def change(line: Line) -> Line:
        at = [match.start() for match in re.finditer(" ", line.value)]
        value = line.value
        if at:
            place = chance.choice(at)
            value = f"{value[:place]} \\{chance.choice(('', ' '))}\n{chance.choice(('', '   '))}{value[place + 1 :]}"
        return Line(line.section, line.name, value)

    return _each_line(text, change)


def included(text: str, chance: random.Random) -> Files:
    sections = sections_of(text)
    section = chance.choice(sections)
    cut = chance.randint(0, len(section.lines))
    moved = "\n".join(line.text() for line in section.lines[cut:]) + "\n"
    section.lines = [
        *section.lines[:cut],
        Line(section.name, chance.choice(("include", "Include", "INCLUDE")), "@@/more"),
    ]
    return {MAIN: text_of(sections).encode(), "more": moved.encode()}


def included_twice_removed(text: str, chance: random.Random) -> Files:
    files = included(text, chance)
    return {MAIN: b"[global]\ninclude = @@/first\n", "first": files[MAIN], "more": files["more"]}


def read_in_place(text: str, chance: random.Random) -> Files:
    name = chance.choice(("config file", "Config File", "configfile"))
    return {
        MAIN: f"[global]\n{name} = @@/real\nlog level = 7\n[ghost]\npath = /nowhere\n".encode(),
        "real": text.encode(),
    }


def switch_words(text: str, chance: random.Random) -> Files:
    def change(line: Line) -> Line:
        parameter = smb_conf.spelling(line.name).parameter
        words = _WORDS.get(line.value.lower(), ())
        is_switch = parameter is not None and parameter.kind == "yes_no"
        return Line(line.section, line.name, chance.choice(words)) if is_switch and words else line

    return _each_line(text, change)


def size_units(text: str, chance: random.Random) -> Files:
    def change(line: Line) -> Line:
        parameter = smb_conf.spelling(line.name).parameter
        if parameter is None or parameter.kind != "size" or not line.value.isdecimal():
            return line
        # Of a size that is counted in a unit already, the audit names another one.
        if parameter.name in {"max log size", "max disk size"}:
            return line
        number = int(line.value)
        if number % 1024:
            return line
        return Line(line.section, line.name, f"{number // 1024}{chance.choice(('K', 'k', ' K'))}")

    return _each_line(text, change)


def synonyms(text: str, chance: random.Random) -> Files:
    del chance
    tables = smb_conf.parameter_table()
    other_names = {name: typed for typed, name in tables.synonyms.items()}

    def change(line: Line) -> Line:
        name = smb_conf.spelling(line.name).name
        if name == "read only" and line.value in _WORDS:
            opposite = "no" if line.value == "yes" else "yes"
            return Line(line.section, "writable", opposite)
        return Line(line.section, other_names.get(name, line.name), line.value)

    return _each_line(text, change)


def line_ends(text: str, chance: random.Random) -> Files:
    end = chance.choice(("\r\n", "  \n", "\n\n"))
    return {MAIN: text.replace("\n", end).encode()}


def encodings(text: str, chance: random.Random) -> Files:
    comment = chance.choice(("# Größe", "; Übersicht", "# données"))
    return {MAIN: comment.encode("latin-1") + b"\n" + text.encode()}


def byte_order_mark(text: str, chance: random.Random) -> Files:
    del chance
    # Samba takes the first line for one that says nothing: a comment stands there.
    return {MAIN: b"\xef\xbb\xbf# smb.conf\n" + text.encode()}


def sections_again(text: str, chance: random.Random) -> Files:
    """[global] in two parts, with another spelling of its name."""
    sections = sections_of(text)
    first = sections[0]
    if first.name != "global":
        return _one_file(text)
    cut = chance.randint(0, len(first.lines))
    second = Section(chance.choice(("global", "GLOBAL", "globals", " Global ")), first.lines[cut:])
    first.lines = first.lines[:cut]
    return _one_file(text_of([first, second, *sections[1:]]))


SAME = (
    blanks, letter_case, name_blanks, comments, order, order_of_shares, joined_lines, included, included_twice_removed,
    read_in_place, switch_words, size_units, synonyms, line_ends, encodings, byte_order_mark, sections_again,
)  # fmt: skip


# Changes that hide a part


def _hidden_by(line: str) -> Callable[[str, random.Random], Files]:
    def change(text: str, chance: random.Random) -> Files:
        lines = text.splitlines()
        lines.insert(chance.randrange(1, len(lines) + 1), line)
        return _one_file("\n".join(lines) + "\n")

    return change


def _hidden_in_global(line: str) -> Callable[[str, random.Random], Files]:
    def change(text: str, chance: random.Random) -> Files:
        del chance
        return _one_file(f"[global]\n{line}\n{text}")

    return change


HIDDEN = {
    "include per client": _hidden_by("include = @@/smb.%m.conf"),
    "include per address": _hidden_by("  INCLUDE=@@/%I"),
    "include that is not here": _hidden_by("include = @@/not-here"),
    "include with a pattern": _hidden_by("include = @@/conf.d/*.conf"),
    "include of a folder": _hidden_by("include = @@/."),
    "config file per user": _hidden_in_global("config file = @@/%U.conf"),
    "config file that is not here": _hidden_in_global("Config  File = @@/not-here"),
    "config file of itself by another": _hidden_in_global("configfile = @@/%L"),
    "registry": _hidden_in_global("include = registry"),
    "registry in place": _hidden_in_global("Config Backend = Registry"),
    "registry shares": _hidden_in_global("registry shares = Yes"),
}
"""By what it is: none of them may end in an all-clear."""


# Changes that spoil a line


@dataclass(frozen=True, slots=True)
class Spoiled:
    """A spoiled configuration: what must be found, by the parameter of the line; empty for any finding of it."""

    files: Files
    section: str
    name: str
    keys: frozenset[str]


def _with_line(text: str, chance: random.Random, change: Callable[[Line], Line]) -> tuple[Files, Line]:
    sections = sections_of(text)
    section = chance.choice([section for section in sections if section.lines])
    place = chance.randrange(len(section.lines))
    changed = change(section.lines[place])
    section.lines[place] = changed
    return _one_file(text_of(sections)), changed


def comment_behind(text: str, chance: random.Random) -> Spoiled:
    """A path with a comment, in any spelling."""
    comment = chance.choice((" # old", " #old", " ;old", " ; old", "\t#old", " //old", "   #"))
    files, line = _with_added(text, chance, "path", f"/srv/spoiled{comment}")
    return Spoiled(files, line.section, "path", frozenset({"trailing-comment"}))


def refused_word(text: str, chance: random.Random) -> Spoiled:
    files, line = _with_added(text, chance, "strict allocate", chance.choice(_NOT_A_WORD))
    return Spoiled(files, line.section, "strict allocate", frozenset({"refused", "trailing-comment"}))


def refused_size(text: str, chance: random.Random) -> Spoiled:
    value = chance.choice(("16 KB", "1.5M", "lots", "4G", "-1", '"64K"'))
    files, line = _with_added(text, chance, "aio write size", value)
    return Spoiled(files, line.section, "aio write size", frozenset({"refused"}))


def typing_error(text: str, chance: random.Random) -> Spoiled:
    name = chance.choice(
        ("read onyl", "browsable files", "valid_users", "vfs object s2", "oplock", "#path", "guest.ok")
    )
    files, line = _with_added(text, chance, name, "yes")
    if name.startswith("#"):
        return Spoiled(files, line.section, "", frozenset())
    return Spoiled(files, line.section, name, frozenset({"unknown"}))


def junk(text: str, chance: random.Random) -> Spoiled:
    lines = text.splitlines()
    line = chance.choice(_JUNK)
    lines.insert(chance.randrange(len(lines) + 1), line)
    return Spoiled(_one_file("\n".join(lines) + "\n"), "", line, frozenset({"malformed-line"}))


def open_bracket(text: str, chance: random.Random) -> Spoiled:
    line = chance.choice(("[spoiled", "[", "= yes"))
    return Spoiled(_one_file(f"{text}{line}\npath = /x\n"), "", line, frozenset({"stops-reading"}))


def unit_behind(text: str, chance: random.Random) -> Spoiled:
    value = chance.choice(("15m", "10 min", "5 # minutes", "30s"))
    files, _ = _with_added(text, chance, "deadtime", value, "global")
    return Spoiled(files, "global", "deadtime", frozenset({"cut-number"}))


def module_of_nobody(text: str, chance: random.Random) -> Spoiled:
    module = chance.choice(("scannedonly", "recyle", "fruits", "aio_linux"))
    files, line = _with_added(text, chance, "vfs objects", f"{module} catia", "extra")
    return Spoiled(files, line.section, "vfs objects", frozenset({"missing-module", "unknown-module"}))


def _with_added(text: str, chance: random.Random, name: str, value: str, section_name: str = "") -> tuple[Files, Line]:
    """The text with one more line, in a share where no section is named."""
    sections = sections_of(text)
    shares = [section for section in sections if section.name != "global"]
    section = chance.choice(shares)
    if section_name:
        named = [section for section in sections if section.name == section_name]
        section = named[0] if named else Section(section_name)
        if not named:
            sections.insert(0 if section_name == "global" else len(sections), section)
    section.lines = [
        line for line in section.lines if smb_conf.parameter_key(line.name) != smb_conf.parameter_key(name)
    ]
    line = Line(section.name, name, value)
    section.lines.append(line)
    return _one_file(text_of(sections)), line


SPOILED = (
    comment_behind, refused_word, refused_size, typing_error, junk, open_bracket, unit_behind, module_of_nobody,
)  # fmt: skip


def damaged(text: str, chance: random.Random) -> Files:
    """Bytes are lost, doubled or replaced."""
    content = bytearray(text.encode())
    for _ in range(chance.randint(1, 8)):
        place = chance.randrange(len(content))
        act = chance.randrange(4)
        if act == 0:
            del content[place : place + chance.randint(1, 9)]
        elif act == 1:
            content[place:place] = content[place : place + chance.randint(1, 30)]
        elif act == 2:
            content[place] = chance.choice(b'\\[]=;#%"\n\r\t\x00\xff\xa0,:')
        else:
            content[place:place] = chance.choice((b"\\\n", b"\xef\xbb\xbf", b"\n[", b" = ", b"\xc2\xa0", b"\n;"))
        if not content:
            content += b"\n"
    return {MAIN: bytes(content)}
