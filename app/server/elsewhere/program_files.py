"""The files of this program, and of the libraries that measure, as one archive that another machine can run.

They are taken from where this process has them: a checkout, an installation, or the program in one file once it has
unpacked itself. What only screens and documents need is left out.
"""

import base64
import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from app.base.errors import MeasurementError
from app.server.elsewhere.start_there import digest_of
from app.server.shell import script_file

if TYPE_CHECKING:
    from importlib.metadata import Distribution

_ROOT = Path(__file__).resolve().parents[3]
_PACKAGES = ("app", "forms", "storage")
_LIBRARIES = (
    "click",
    "cryptography",
    "gevent",
    "impacket",
    "jinja2",
    "locust",
    "platformdirs",
    "psutil",
    "pyasn1",
    "pyzmq",
    "smbclientng",
    "sqlite-utils",
)
"""Those that measuring, a check, a diagnosis and a load import; what they need themselves comes with them."""
_NOT_NEEDED = {
    "dnspython",
    "ldap3",
    "ldapdomaindump",
    "pip",
    "pygments",
    "pytest",
    "setuptools",
    "tzdata",
    "xlsxwriter",
}
"""What libraries name among their needs and import for other work than ours; they are a quarter of all bytes."""
_REQUIREMENT_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_COMPRESSION = 3
"""Of zlib. Its usual 6 takes three times as long, which only a link below 5 Mbit/s makes up for."""


class ProgramFile(NamedTuple):
    """A file to carry: its name there, relative and with slashes, and its path here."""

    name: str
    path: Path


@cache
def program_files() -> tuple[ProgramFile, ...]:
    """All files to carry. Raises MeasurementError where a library does not say which files it has."""
    files = {file.name: file for file in _own_files()}
    for distribution in _distributions(_LIBRARIES):
        files |= {file.name: file for file in _library_files(distribution)}
    return tuple(files[name] for name in sorted(files))


@cache
def program_digest() -> str:
    """The digest of :func:`program_files`, by which another machine checks what it has."""
    return digest_of(program_files())


def packed_program() -> bytes:
    """The archive of :func:`program_files`."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=_COMPRESSION) as packed:
        for file in program_files():
            packed.write(file.path, file.name)
    return archive.getvalue()


def _own_files() -> Iterator[ProgramFile]:
    for package in _PACKAGES:
        for path in (_ROOT / package).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                yield ProgramFile(path.relative_to(_ROOT).as_posix(), path)


def _distributions(names: Sequence[str]) -> "list[Distribution]":
    """The distributions of these names, and of all that they need. Raises MeasurementError for one that is missing."""
    from importlib import metadata

    waiting = list(names)
    distributions: dict[str, Distribution] = {}
    while waiting:
        name = _normal_name(waiting.pop())
        if name in distributions or name in _NOT_NEEDED:
            continue
        try:
            distributions[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            if name in {_normal_name(library) for library in names}:
                raise MeasurementError(
                    f"this program cannot be carried: {name} is not installed as a package"
                ) from None
            continue  # needed on another system, or with another Python
        waiting += _needed_names(distributions[name])
    return list(distributions.values())


def _normal_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _needed_names(distribution: "Distribution") -> Iterator[str]:
    """The names of what it requires, without its extras."""
    for requirement in distribution.requires or ():
        requirement_text, _, marker = requirement.partition(";")
        match = _REQUIREMENT_NAME.match(requirement_text)
        if match and "extra" not in marker:
            yield match.group()


def _library_files(distribution: "Distribution") -> Iterator[ProgramFile]:
    """Its modules and data, without programs, compiled modules and the list of files, which differs by installer."""
    if distribution.files is None:
        name = distribution.metadata["Name"]
        raise MeasurementError(
            f"this program cannot be carried: which files {name} has is unknown (a package of the distribution);"
            " install sharebench on the other machine"
        )
    for file in distribution.files:
        is_outside = ".." in file.parts or file.is_absolute()
        is_of_installer = file.parts[0].endswith(".dist-info") and file.name != "METADATA"
        if is_outside or is_of_installer or "__pycache__" in file.parts:
            continue
        path = Path(str(distribution.locate_file(file)))
        if path.is_file():
            yield ProgramFile(file.as_posix(), path)


def packed_start_text() -> str:
    """The text of ``start_there`` for the quotes of any login shell: csh takes no line end in them, nor a ``!``."""
    text = f"{script_file('app.server.elsewhere', 'start_there.py')}\nsys.exit(main())\n"
    packed = base64.b64encode(zlib.compress(text.encode())).decode()
    return f'import base64, zlib; exec(zlib.decompress(base64.b64decode("{packed}")))'
