"""Reads the files of an smb.conf as Samba does: lines that are joined, includes, files in place of it, the registry.

The rules are those of Samba's own reader (lib/util/tini.c, source3/param/loadparm.c).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from forms.tuning.smb_conf import parameter_key, squeeze
from forms.tuning.smb_values import BLANKS, with_single_blanks
from storage.looks import AuditedSetting

_BYTE_ORDER_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
_GLOBAL_NAMES = frozenset({"global", "globals"})
REGISTRY = "registry"
"""The name of Samba's registry as an include, and of its text among the files."""
_MOST_DEPTH = 100
"""Includes within includes: Samba refuses more (MAX_INCLUDE_DEPTH)."""
_MOST_READS = 1000
"""Files that are read, each time anew: those that include each other twice would be read without an end."""


class UnreadReason(StrEnum):
    """Why a part of the configuration that smbd reads, or may read, was not read here."""

    INCLUDE_MISSING = "include missing"
    INCLUDE_PER_CLIENT = "include per client"
    CONFIG_FILE_MISSING = "config file missing"
    CONFIG_FILE_PER_CLIENT = "config file per client"
    CONFIG_FILE_LOOP = "config file loop"
    REGISTRY = "registry"
    TOO_MANY_INCLUDES = "too many includes"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadPart:
    """A part of the configuration that was not read."""

    reason: UnreadReason
    setting: AuditedSetting
    """The line that leads there."""


class StopReason(StrEnum):
    """Why Samba stops reading at a line, and refuses the whole file."""

    UNREADABLE = "unreadable"
    """It is neither a section with a name nor a parameter with one."""
    INCLUDE_LOOP = "include loop"
    REGISTRY_IN_SHARE = "registry in share"


@dataclass(frozen=True, slots=True, kw_only=True)
class BadLine:
    """A line that is neither a section nor a parameter, or at which Samba stops reading."""

    text: str
    file: str
    line: int
    reason: StopReason = StopReason.UNREADABLE


@dataclass(frozen=True, slots=True)
class SmbConfFile:
    """An smb.conf with all that it includes; with a `config file`, what smbd reads in place of it."""

    settings: tuple[AuditedSetting, ...] = ()
    """In the order in which Samba reads them: of several for one parameter, the last one counts."""
    unread: tuple[UnreadPart, ...] = ()
    malformed: tuple[BadLine, ...] = ()
    """Lines that say nothing: Samba skips them."""
    stopped_at: BadLine | None = None
    """The line at which Samba stops reading; what follows it is not in ``settings``."""
    followed: tuple[AuditedSetting, ...] = ()
    """The `config file` lines that smbd follows, the first one first: ``settings`` are those of the last one's file."""
    forgotten: tuple[AuditedSetting, ...] = ()
    """Module options of a share that smbd forgets where the share's section begins again."""
    uses_registry: bool = False
    """Whether it includes Samba's registry, or leaves all to it."""

    def last(self, section: str, name: str) -> str | None:
        """The value that counts: the last one that is set there."""
        key = parameter_key(name)
        for setting in reversed(self.settings):
            if setting.section == section.lower() and parameter_key(setting.name) == key:
                return setting.value
        return None

    def unread_for(self, *reasons: UnreadReason) -> tuple[UnreadPart, ...]:
        return tuple(part for part in self.unread if part.reason in reasons)


@dataclass(slots=True)
class _FileReading:
    """An smb.conf while it is read; the fields become those of `SmbConfFile`."""

    files: Mapping[str, str]
    """The text of each file by path, and of the registry as ``registry`` if it could be read."""
    settings: list[AuditedSetting] = field(default_factory=list)
    unread: list[UnreadPart] = field(default_factory=list)
    malformed: list[BadLine] = field(default_factory=list)
    stopped_at: BadLine | None = None
    forgotten: list[AuditedSetting] = field(default_factory=list)
    uses_registry: bool = False
    options: dict[str, list[AuditedSetting]] = field(default_factory=dict)
    """By share, the module options since its section began, for the last time."""
    reads: int = 0
    """Of files."""
    open: list[str] = field(default_factory=list)
    """The files that include each other at this place: none of them is read again inside itself."""

    def read(self, file: str, section: str) -> str:
        """Read a file from its first line on, in ``section``; returns the section that it leaves open."""
        self.reads += 1
        for number, line in logical_lines(self.files.get(file, "")):
            if self.stopped_at is not None:
                return section

            if line.startswith("["):
                name, bracket, _ = line[1:].partition("]")
                if bracket and name.strip(BLANKS):
                    section = self._begin_section(name)
                else:
                    self.stopped_at = BadLine(text=line, file=file, line=number)
                continue

            name, equals, value = line.partition("=")
            name = name.strip(BLANKS)
            value = value.strip(BLANKS)
            if not equals:
                self.malformed.append(BadLine(text=line, file=file, line=number))
            elif not name:
                self.stopped_at = BadLine(text=line, file=file, line=number)
            else:
                setting = AuditedSetting(section=section, name=name, value=value, file=file, line=number)
                section = self._read_setting(setting)
        return section

    def _begin_section(self, written_name: str) -> str:
        name = written_name.lower()
        if squeeze(name) in _GLOBAL_NAMES:
            return "global"

        self.forgotten += self.options.get(name, ())
        self.options[name] = []
        return name

    def _read_setting(self, setting: AuditedSetting) -> str:
        """Take the setting, or read what it leads to; returns the section that is open afterwards."""
        key = squeeze(setting.name)
        if key == "include":
            return self._include(setting)

        if key == "registryshares" and squeeze(setting.value) in {"yes", "true", "on", "1"}:
            self._note_unread_registry(setting)
        self.settings.append(setting)
        if setting.section in self.options and ":" in setting.name:
            self.options[setting.section].append(setting)
        return setting.section

    def _include(self, setting: AuditedSetting) -> str:
        # testparm lists the parameter also where there is no such line.
        path = setting.value
        if not path:
            return setting.section

        is_registry = path.lower() == REGISTRY
        if is_registry and setting.section != "global":
            self._stop(setting, StopReason.REGISTRY_IN_SHARE)
            return setting.section
        if is_registry:
            self.uses_registry = True
            self._note_unread_registry(setting)
            path = REGISTRY
        elif "%" in path:
            self.unread.append(UnreadPart(reason=UnreadReason.INCLUDE_PER_CLIENT, setting=setting))
            return setting.section
        elif path not in self.files and path not in self.open:
            self.unread.append(UnreadPart(reason=UnreadReason.INCLUDE_MISSING, setting=setting))
            return setting.section

        if path in self.open and not is_registry:
            # A file that includes itself does so again, until Samba refuses to go deeper.
            self._stop(setting, StopReason.INCLUDE_LOOP)
            return setting.section
        if path not in self.files or path in self.open:
            return setting.section
        if len(self.open) > _MOST_DEPTH or self.reads >= _MOST_READS:
            self.unread.append(UnreadPart(reason=UnreadReason.TOO_MANY_INCLUDES, setting=setting))
            return setting.section
        self.open.append(path)
        section = self.read(path, setting.section)
        self.open.pop()
        return section

    def read_registry_alone(self, setting: AuditedSetting) -> None:
        """Forget what was read, and read the registry in its place, as ``config backend = registry`` asks for."""
        self.settings.clear()
        self.unread.clear()
        self.malformed.clear()
        self.forgotten.clear()
        self.options.clear()
        self.uses_registry = True
        self._note_unread_registry(setting)
        self.open = [REGISTRY]
        self.read(REGISTRY, "global")

    def _stop(self, setting: AuditedSetting, reason: StopReason) -> None:
        text = f"{setting.name} = {setting.value}"
        self.stopped_at = BadLine(text=text, file=setting.file, line=setting.line, reason=reason)

    def _note_unread_registry(self, setting: AuditedSetting) -> None:
        if REGISTRY not in self.files:
            self.unread.append(UnreadPart(reason=UnreadReason.REGISTRY, setting=setting))


def read_conf(path: str, files: Mapping[str, str]) -> SmbConfFile:
    """The settings of the smb.conf at ``path``; ``files`` maps paths to text, ``registry`` to ``net conf list`` if that
    could be read.
    """
    followed: list[AuditedSetting] = []
    read_paths = [path]
    while True:
        reading = _FileReading(files=files, open=[read_paths[-1]])
        reading.read(read_paths[-1], "global")
        backend = _last_of_global(reading.settings, "configbackend")
        is_in_registry = backend is not None and backend.value.lower() == REGISTRY
        if backend is not None and is_in_registry and reading.stopped_at is None:
            reading.read_registry_alone(backend)
        config_file = _config_file(reading.settings)
        # smbd keeps the file that it has where the line names that one.
        if config_file is None or config_file.value == read_paths[-1]:
            break

        reason = _reason_not_followed(config_file.value, read_paths, files)
        if reason is not None:
            reading.unread.insert(0, UnreadPart(reason=reason, setting=config_file))
            break
        followed.append(config_file)
        read_paths.append(config_file.value)

    # By identity, since a file that is included twice has each line twice.
    forgotten_ids = {id(setting) for setting in reading.forgotten}
    return SmbConfFile(
        settings=tuple(setting for setting in reading.settings if id(setting) not in forgotten_ids),
        unread=tuple(reading.unread),
        malformed=tuple(reading.malformed),
        stopped_at=reading.stopped_at,
        followed=tuple(followed),
        forgotten=tuple(reading.forgotten),
        uses_registry=reading.uses_registry,
    )


def _config_file(settings: Sequence[AuditedSetting]) -> AuditedSetting | None:
    """The line that names the file to read in place of these settings; None where there is none."""
    line = _last_of_global(settings, "configfile")
    return line if line is not None and line.value else None


def _last_of_global(settings: Sequence[AuditedSetting], squeezed_name: str) -> AuditedSetting | None:
    """The line of [global] that counts for a parameter; None where there is none."""
    lines = [line for line in settings if line.section == "global" and squeeze(line.name) == squeezed_name]
    return lines[-1] if lines else None


def _reason_not_followed(path: str, read_paths: Sequence[str], files: Mapping[str, str]) -> UnreadReason | None:
    if "%" in path:
        return UnreadReason.CONFIG_FILE_PER_CLIENT
    if path in read_paths:
        return UnreadReason.CONFIG_FILE_LOOP
    return None if path in files else UnreadReason.CONFIG_FILE_MISSING


def file_lines(text: str) -> list[str]:
    """Lines as Samba and `patch` count them: a line feed alone ends one, and stays with it."""
    return [line for line in re.split(r"(?<=\n)", text) if line]


def logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines and the numbers that they begin at; a backslash at the end joins the next line to it.

    Comments and empty lines are left out, but not those within a joined line, which belong to it. Several blanks in a
    row become one.
    """
    beginning: str | None = None
    start = 0
    text = _without_harmless_mark(text)
    for number, raw_line in enumerate(file_lines(text), start=1):
        # Samba's texts end at a NUL.
        line = raw_line.partition("\0")[0].rstrip("\n" + BLANKS)
        if beginning is None:
            line = line.lstrip(BLANKS)
            if not line or line[0] in "#;":
                continue
            start = number
            beginning = ""

        if line.endswith("\\"):
            beginning += line[:-1]
            continue
        whole_line = with_single_blanks(beginning + line)
        if whole_line:
            yield start, whole_line
        beginning = None
    if beginning:
        yield start, with_single_blanks(beginning)


def _without_harmless_mark(text: str) -> str:
    """The text without a byte order mark, where that costs nothing: Samba skips the line that begins with it.

    [global] begins without a word, and a comment is skipped anyway.
    """
    first_line = text.removeprefix(_BYTE_ORDER_MARK).partition("\n")[0].strip()
    is_comment = not first_line or first_line[0] in "#;"
    is_global = first_line.startswith("[") and squeeze(first_line.strip("[]")) in _GLOBAL_NAMES
    return text.removeprefix(_BYTE_ORDER_MARK) if is_comment or is_global else text
