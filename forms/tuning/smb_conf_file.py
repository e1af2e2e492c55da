"""An smb.conf as it is written, with its includes: for what testparm hides, drops or says about itself."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from forms.tuning.smb_conf import spelling, squeeze


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenSetting:
    """One line ``name = value``, the includes spliced in where they stand."""

    section: str
    """In lower case; ``global`` for what stands before any section."""
    name: str
    value: str
    file: str = ""
    line: int = 0
    """From 1; where the line begins, if it is continued."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SmbConfFile:
    """The lines of an smb.conf in order, and what could not be followed."""

    settings: tuple[WrittenSetting, ...] = ()
    missing_includes: tuple[str, ...] = ()
    per_client_includes: tuple[str, ...] = ()
    """Includes with a % in their names: what they say depends on the client."""
    malformed: tuple[str, ...] = ()
    uses_registry: bool = False

    def last(self, section: str, name: str) -> str | None:
        """The value that counts: the last one of a section, by any spelling or synonym of the name."""
        wanted = parameter_key(name)
        found = None
        for setting in self.settings:
            if setting.section == section.lower() and parameter_key(setting.name) == wanted:
                found = setting.value
        return found


@dataclass(slots=True)
class _FileReading:
    files: Mapping[str, str]
    settings: list[WrittenSetting] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    per_client: list[str] = field(default_factory=list)
    malformed: list[str] = field(default_factory=list)
    registry: bool = False
    open: list[str] = field(default_factory=list)

    def read(self, file: str, section: str) -> str:
        """Take in a file's lines; returns the section that it ends in, which continues after an include."""
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
                self.settings.append(WrittenSetting(section=section, name=name, value=value, file=file, line=number))
        return section

    def _include(self, value: str, section: str) -> str:
        if value.lower() == "registry":
            self.registry = True
        elif "%" in value:
            self.per_client.append(value)
            return section
        if value in self.open:
            return section
        if value not in self.files:
            if value.lower() != "registry":
                self.missing.append(value)
            return section
        self.open.append(value)
        section = self.read(value, section)
        self.open.pop()
        return section


def read_conf(path: str, files: Mapping[str, str]) -> SmbConfFile:
    """The settings of the smb.conf at ``path``; ``files`` has the text of each file by its path.

    The text of ``net conf list``, where there is a registry, is the file ``registry``.
    """
    reading = _FileReading(files=files, open=[path])
    reading.read(path, "global")
    return SmbConfFile(
        settings=tuple(reading.settings),
        missing_includes=tuple(reading.missing),
        per_client_includes=tuple(reading.per_client),
        malformed=tuple(reading.malformed),
        uses_registry=reading.registry,
    )


def global_names_in_shares(conf: SmbConfFile, global_names: Iterable[str]) -> Iterator[WrittenSetting]:
    """Settings that stand in a share although they hold for the server only: Samba ignores them there."""
    keys = {parameter_key(name) for name in global_names}
    for setting in conf.settings:
        if setting.section != "global" and parameter_key(setting.name) in keys:
            yield setting


@lru_cache(maxsize=4096)
def parameter_key(name: str) -> str:
    """What is the same for all spellings and synonyms of one parameter: ``Dead Time`` and ``deadtime``."""
    return squeeze(spelling(name).name)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, without comments and outer blanks; one that ends in a backslash continues."""
    kept, start = "", 0
    for number, raw in enumerate(text.splitlines(), start=1):
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
