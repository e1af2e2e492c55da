"""Makes ``forms/tuning/data/parameters.toml``: the parameters of smb.conf by version of Samba.

``python -m tests.release.samba_parameters SOURCE`` (as root), with a clone of Samba's git repository, which needs its
tags. Names, scopes, kinds, synonyms and defaults are what testparm prints in the Samba packages of some releases of
Debian, which are fetched from the mirror that this machine's own apt uses. Since and until when come from the lists of
parameters in Samba's source, one of each version. What was read is printed, and stands at the head of the file.

``--dumps FOLDER`` also keeps each release's untouched smb.conf and what ``testparm -sv`` prints of it, for tests.
"""

import argparse
import gzip
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from forms.tuning.samba_parameters import Version, short_version, version_numbers
from tests.release.debian import fetch_packages, name_and_version, sha256, unpack
from tests.release.running import FailedError, run

TABLE = Path(__file__).resolve().parents[2] / "forms/tuning/data/parameters.toml"
RELEASES = ("bullseye", "bookworm", "trixie", "sid")
"""Of Debian, the oldest first: Samba 4.13, 4.17, 4.22 and what is newest."""

KINDS = {
    "P_BOOL": "yes_no",
    "P_BOOLREV": "yes_no",
    "P_ENUM": "choice",
    "P_INTEGER": "number",
    "P_OCTAL": "octal",
    "P_BYTES": "size",
    "P_LIST": "list",
    "P_CMDLIST": "list",
    "P_STRING": "text",
    "P_USTRING": "text",
    "P_CHAR": "text",
}
"""By testparm's word (lib/param/param_table.c)."""
OF_THE_MACHINE = frozenset({"netbios name"})
"""Parameters whose default is taken from the machine."""
NAMES_OF_THEIR_OWN = frozenset({"smb ports"})
"""Synonyms of newer versions that stay parameters: the facts of older servers have them by that name."""

NAMES_OF_SAMBA_3 = (
    "acl compatibility",
    "announce as",
    "announce version",
    "directory security mask",
    "display charset",
    "force directory security mode",
    "force security mode",
    "paranoid server security",
    "printer admin",
    "security mask",
    "send spnego principal",
    "share modes",
    "time offset",
)
"""Parameters of source3/param/loadparm.c of Samba 3.6 that 4.0 had no more; old files still have them."""

_PACKAGES = ("samba-common-bin", "samba-libs", "samba-common")
"""What testparm is made of: the program, its tables, and Debian's smb.conf."""
_DOCUMENTED = "docs-xml/smbdotconf"
"""Where Samba's source has a file for each parameter."""
_NAME_IN_SOURCE = r'samba:parameter +name="[^"]*"|<synonym>[^<]*'


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedName:
    """A name in ``testparm --show-all-parameters``."""

    name: str
    scope: str
    kind: str
    synonym_of: str = ""
    is_opposite: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """What a release of Debian has: its Samba, and what testparm prints there."""

    version: Version
    packages: Mapping[str, str]
    """The SHA-256 by package, ``samba-libs 2:4.17.12+dfsg-0+deb12u4``."""
    names: tuple[ListedName, ...]
    defaults: Mapping[str, str]
    untouched_conf: bytes
    """Debian's smb.conf."""
    dump: bytes
    """What ``testparm -sv`` prints of it."""


@dataclass(slots=True, kw_only=True)
class Row:
    """A parameter, as it becomes a row of the table."""

    listed: ListedName
    """In the newest version that has it."""
    defaults: dict[Version, str] = field(default_factory=dict)


# What a release has


def read_release(folder: Path, name: str) -> Release:
    """Fetch a release's Samba into the folder and ask its testparm. Raises FailedError."""
    archives = fetch_packages(folder, name, _PACKAGES)
    root = folder / "root"
    unpack(archives, root)
    _make_ready(root)

    printed_version = _in_root(folder, root, "testparm", "-V").removeprefix("Version ").strip()
    empty = root / "tmp/empty.conf"
    empty.write_text("")
    untouched = root / "usr/share/samba/smb.conf"
    # At another level of debugging testparm prints its own in place of the default.
    defaults = _in_root(folder, root, "testparm", "-d0", "-sv", "/tmp/empty.conf")
    dump = _in_root(folder, root, "testparm", "-sv", "/usr/share/samba/smb.conf")
    return Release(
        version=version_numbers(printed_version)[:2],
        packages=dict(_sums(archives)),
        names=tuple(listed_names(_in_root(folder, root, "testparm", "--show-all-parameters"))),
        defaults=printed_defaults(defaults, printed_version),
        untouched_conf=untouched.read_bytes(),
        dump=dump.encode(),
    )


def _make_ready(root: Path) -> None:
    """What testparm looks for besides its packages."""
    for name in ("etc/samba", "var/lib/samba", "var/cache/samba", "var/log/samba", "run/samba", "tmp"):
        (root / name).mkdir(parents=True, exist_ok=True)
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    (root / "etc/group").write_text("root:x:0:\n")


def _in_root(folder: Path, root: Path, *words: str) -> str:
    """What a program prints in the root, on a machine called ``server``."""
    script = 'hostname server && exec chroot "$0" "$@"'
    return run(folder, "unshare", "--uts", "sh", "-c", script, root, *words)


def _sums(archives: Iterable[Path]) -> Iterator[tuple[str, str]]:
    for archive in archives:
        name, version = name_and_version(archive)
        if name in _PACKAGES:
            yield f"{name} {version}", sha256(archive)


def listed_names(printed: str) -> Iterator[ListedName]:
    """From ``testparm --show-all-parameters``: ``name=P_TYPE,words,flags (synonym of …)``."""
    scope = ""
    for line in printed.splitlines():
        if line.startswith("["):
            scope = "share" if line == "[local]" else "global"
            continue
        name, equals, description = line.partition("=")
        # smbd makes "-valid" for itself and refuses it in a file.
        if not equals or name.startswith("-"):
            continue

        synonym = re.search(r"synonym of ([^)]*)\)", description)
        yield ListedName(
            name=name,
            scope=scope,
            kind=KINDS[description.partition(",")[0]],
            synonym_of=synonym[1] if synonym and name not in NAMES_OF_THEIR_OWN else "",
            is_opposite="inverse synonym" in description,
        )


def printed_defaults(printed: str, samba_version: str) -> dict[str, str]:
    """From ``testparm -sv`` of an empty file; the version in a value becomes ``%v``, as one writes it in smb.conf."""
    defaults = {}
    for line in printed.splitlines():
        name, equals, value = line.strip().partition("=")
        if equals and ":" not in name and name.strip() not in OF_THE_MACHINE:
            defaults[name.strip()] = value.strip().replace(samba_version, "%v")
    return defaults


# Since and until when


def documented_names(source: Path) -> dict[Version, frozenset[str]]:
    """By version of Samba: the names of all parameters that its source documents, in small letters."""
    names = {}
    for version, tag in sorted(_last_tags(_git(source, "tag", "--list", "samba-4.*")).items()):
        printed = _git(source, "grep", "-hoE", _NAME_IN_SOURCE, tag, "--", _DOCUMENTED)
        names[version] = frozenset(names_in_source(printed))
    return names


def names_in_source(printed: str) -> Iterator[str]:
    """The names in what git found, in small letters; without options of modules, which have a colon."""
    for line in printed.splitlines():
        match = re.fullmatch(r'samba:parameter +name="(.*)"|<synonym>(.*)', line)
        if match is None:
            continue
        name = match[1] or match[2]
        if ":" not in name:
            yield name.strip().lower()


def _last_tags(printed: str) -> dict[Version, str]:
    """The last release of each version, without candidates."""
    releases = [line for line in printed.split() if re.fullmatch(r"samba-4\.\d+\.\d+", line)]
    releases.sort(key=_version_of_tag)
    return {_version_of_tag(tag)[:2]: tag for tag in releases}


def _version_of_tag(tag: str) -> Version:
    return version_numbers(tag.removeprefix("samba-"))


def _git(source: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", source, *words], check=False, capture_output=True, text=True)
    if done.returncode:
        raise FailedError(f"git {words[0]} in {source}: {done.stderr.strip()}")
    return done.stdout


# The table


def names_by_version(
    releases: Sequence[Release], documented: Mapping[Version, frozenset[str]]
) -> dict[Version, frozenset[str]]:
    """The names that each version knows, in small letters: what testparm listed, or else what the source documents."""
    listed = {release.version: frozenset(listed.name.lower() for listed in release.names) for release in releases}
    known = {**documented, **listed}
    return {version: known[version] for version in sorted(known)}


def range_of(name: str, known: Mapping[Version, frozenset[str]]) -> tuple[Version | None, Version | None]:
    """The first and the last version that knows a name; None for the first or last of all."""
    versions = [version for version, names in known.items() if name.lower() in names]
    first = versions[0] if versions[0] > min(known) else None
    last = versions[-1] if versions[-1] < max(known) else None
    return first, last


def table_text(releases: Sequence[Release], documented: Mapping[Version, frozenset[str]]) -> str:
    """The file."""
    known = names_by_version(releases, documented)
    rows: dict[str, Row] = {}
    synonyms: dict[str, str] = {}
    opposites: dict[str, str] = {}
    for release in releases:
        for listed in release.names:
            if listed.is_opposite:
                opposites[listed.name] = listed.synonym_of
            elif listed.synonym_of:
                synonyms[listed.name] = listed.synonym_of
            else:
                row = rows.setdefault(listed.name, Row(listed=listed))
                row.listed = listed
                if listed.name in release.defaults:
                    row.defaults[release.version] = release.defaults[listed.name]

    # What was a parameter once and is a synonym now is the same parameter.
    for former_name, name in synonyms.items():
        former = rows.pop(former_name, None)
        if former is not None:
            rows[name].defaults = {**former.defaults, **rows[name].defaults}

    lines = [*_head(releases), "[parameters]"]
    lines += [_row_line(name, rows[name], known) for name in sorted(rows, key=str.casefold)]
    lines += ["", "[synonyms]", *_name_lines(synonyms)]
    lines += ["", "# Synonyms that say the opposite.", "[opposites]", *_name_lines(opposites)]
    lines += ["", "# Parameters that were removed before, with the last version that had them.", "[removed]"]
    removed = removed_names(known, min(release.version for release in releases))
    lines += _name_lines(removed | dict.fromkeys(NAMES_OF_SAMBA_3, "3.6"))
    return "\n".join(lines) + "\n"


def _head(releases: Sequence[Release]) -> Iterator[str]:
    yield "# Made by `python -m tests.release.samba_parameters`: the parameters of smb.conf by version of Samba."
    yield "# `default` is that of all versions that were read, or those with which it changed; without `since` the"
    yield "# parameter is as old as 4.0, without `until` the newest version has it."
    for release in releases:
        yield ""
        yield "[[read]]"
        yield f'version = "{short_version(release.version)}"'
        yield "[read.sha256]"
        yield from _name_lines(release.packages)
    yield ""


def _row_line(name: str, row: Row, known: Mapping[Version, frozenset[str]]) -> str:
    since, until = range_of(name, known)
    parts = [f'scope = "{row.listed.scope}"', f'kind = "{row.listed.kind}"']
    if since is not None:
        parts.append(f'since = "{short_version(since)}"')
    if until is not None:
        parts.append(f'until = "{short_version(until)}"')
    if row.defaults:
        parts.append(f"default = {_default_text(row.defaults)}")
    return f"{_quoted(name)} = {{{', '.join(parts)}}}"


def _default_text(defaults: Mapping[Version, str]) -> str:
    changes: dict[Version, str] = {}
    current: str | None = None
    for version in sorted(defaults):
        if defaults[version] != current:
            current = changes[version] = defaults[version]
    if len(changes) == 1:
        return _quoted(*changes.values())
    texts = [f'"{short_version(version)}" = {_quoted(text)}' for version, text in changes.items()]
    return f"{{{', '.join(texts)}}}"


def removed_names(known: Mapping[Version, frozenset[str]], oldest: Version) -> dict[str, str]:
    """The names that no version from ``oldest`` on knows, with the last that did."""
    removed: dict[str, str] = {}
    today = {name for version, names in known.items() if version >= oldest for name in names}
    for version, names in known.items():
        removed |= {name: short_version(version) for name in names - today}
    return removed


def _name_lines(texts: Mapping[str, str]) -> list[str]:
    return [f"{_quoted(name)} = {_quoted(texts[name])}" for name in sorted(texts, key=str.casefold)]


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _write_dumps(folder: Path, release: Release) -> None:
    """Both texts, compressed; the same texts make the same files."""
    name = short_version(release.version)
    (folder / f"{name}.smb.conf.gz").write_bytes(gzip.compress(release.untouched_conf, mtime=0))
    (folder / f"{name}.testparm.gz").write_bytes(gzip.compress(release.dump, mtime=0))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="a clone of Samba's git repository")
    parser.add_argument("--dumps", type=Path, help="a folder for the untouched configurations and their dumps")
    choices = parser.parse_args(arguments)

    releases = []
    for name in RELEASES:
        with tempfile.TemporaryDirectory() as folder:
            release = read_release(Path(folder), name)
        for package, digest in release.packages.items():
            sys.stdout.write(f"{name}: {package} {digest}\n")
        if choices.dumps:
            _write_dumps(choices.dumps, release)
        releases.append(release)
    TABLE.write_text(table_text(releases, documented_names(choices.source)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
