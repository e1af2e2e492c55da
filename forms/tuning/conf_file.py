"""Reads the files of an smb.conf as Samba does: includes, the registry, lines that are joined."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from forms.tuning.smb_conf import parameter_key
from storage.looks import AuditedSetting


@dataclass(frozen=True, slots=True)
class SmbConfFile:
    """An smb.conf with all that it includes."""

    settings: tuple[AuditedSetting, ...] = ()
    """In the order in which Samba reads them: of several for one parameter, the last one counts."""
    missing_includes: tuple[str, ...] = ()
    """Files that it includes and that were not found."""
    per_client_includes: tuple[str, ...] = ()
    """Includes with a variable (``%``), whose files differ from client to client."""
    malformed: tuple[str, ...] = ()
    """Lines that say nothing."""
    uses_registry: bool = False
    """Whether it includes Samba's registry, or leaves all to it."""

    def last(self, section: str, name: str) -> str | None:
        """The value that counts: the last one that is set there."""
        key = parameter_key(name)
        for setting in reversed(self.settings):
            if setting.section == section.lower() and parameter_key(setting.name) == key:
                return setting.value
        return None


@dataclass(slots=True)
class _FileReading:
    """An smb.conf while it is read; the fields become those of `SmbConfFile`."""

    files: Mapping[str, str]
    """The text of each file by path, and of the registry as ``registry``."""
    settings: list[AuditedSetting] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    per_client: list[str] = field(default_factory=list)
    malformed: list[str] = field(default_factory=list)
    registry: bool = False
    open: list[str] = field(default_factory=list)
    """The files that include each other at this place: none of them is read again inside itself."""

    def read(self, file: str, section: str) -> str:
        """Read a file from its first line on, in ``section``; returns the section that it leaves open."""
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
                # Samba then forgets what it read before.
                self.registry = True
                self.settings.clear()
                section = self.read("registry", "global")
            else:
                self.settings.append(AuditedSetting(section=section, name=name, value=value, file=file, line=number))
        return section

    def _include(self, value: str, section: str) -> str:
        # testparm lists the parameter also where there is no such line.
        if not value:
            return section

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
