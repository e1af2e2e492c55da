"""Our own operation script: an office day in some thousand requests; one pass takes seconds.

The mix resembles that of FSCT: a create and a close for each read, and as many queries about files as reads.
"""

from collections.abc import Iterator

FOLDERS = ("Letters", "Sheets", "Slides", "Notes")
DOCUMENTS = 14
"""In each folder."""
_HOME = r"\clients\client1"
_BLOCK_BYTES = 32768
_SIZES = (6144, 18432, 40960, 81920, 163840, 327680)
"""Bytes, used in rotation."""
_OK = "NT_STATUS_OK"
_MISSING = "NT_STATUS_OBJECT_NAME_NOT_FOUND"
_NO_FILE = "NT_STATUS_NO_SUCH_FILE"
_BASIC, _STANDARD, _SIZE_OF_DISK = 1004, 258, 259


def office_lines() -> Iterator[str]:
    """The lines of the script, always the same."""
    handles = iter(range(10_000, 100_000))
    yield f'Deltree "{_HOME}" {_OK}'
    yield f'Mkdir "\\clients" {_OK}'
    for folder in ("", *(f"\\{name}" for name in FOLDERS)):
        handle = next(handles)
        yield f'NTCreateX "{_HOME}{folder}" 0x1 0x2 {handle} {_OK}'
        yield f"Close {handle} {_OK}"
    for name in FOLDERS:
        for number in range(DOCUMENTS):
            yield from _written(f"{_HOME}\\{name}\\doc{number:02d}.dat", _SIZES[number % len(_SIZES)], next(handles))
    for hour in range(4):
        for position, name in enumerate(FOLDERS):
            yield from _browsed(f"{_HOME}\\{name}", handles, hour)
            for number in range(DOCUMENTS):
                path, size = f"{_HOME}\\{name}\\doc{number:02d}.dat", _SIZES[number % len(_SIZES)]
                yield from _read(path, size, next(handles))
                if (number + position + hour) % 7 == 0:
                    yield from _saved_anew(path, size, handles)
                elif (number + position + hour) % 7 == 3:
                    yield from _changed(path, size, next(handles))
            yield from _thrown_away(f"{_HOME}\\{name}\\~note{hour}.tmp", next(handles))


def _browsed(folder: str, handles: Iterator[int], hour: int) -> Iterator[str]:
    """A folder opened in a file manager, which asks about each file and about missing ones."""
    handle = next(handles)
    yield f'NTCreateX "{folder}" 0x1 0x1 {handle} {_OK}'
    yield f"Close {handle} {_OK}"
    yield f'FIND_FIRST "{folder}\\*" 260 1366 {DOCUMENTS} {_OK}'
    yield f"QUERY_FS_INFORMATION {_SIZE_OF_DISK} {_OK}"
    yield f'QUERY_PATH_INFORMATION "{folder}\\desktop.ini" {_BASIC} {_MISSING}'
    for number in range(DOCUMENTS):
        yield f'QUERY_PATH_INFORMATION "{folder}\\doc{number:02d}.dat" {_BASIC} {_OK}'
    yield f'FIND_FIRST "{folder}\\~lock{hour}.*" 260 1366 0 {_NO_FILE}'


def _read(path: str, size_bytes: int, handle: int) -> Iterator[str]:
    yield f'QUERY_PATH_INFORMATION "{path}" {_BASIC} {_OK}'
    yield f'NTCreateX "{path}" 0x40 0x1 {handle} {_OK}'
    yield f"QUERY_FILE_INFORMATION {handle} {_STANDARD} {_OK}"
    for offset, length in _blocks(size_bytes):
        yield f"ReadX {handle} {offset} {length} {length} {_OK}"
    yield f"Close {handle} {_OK}"


def _written(path: str, size_bytes: int, handle: int, *, flushed: bool = False) -> Iterator[str]:
    yield f'NTCreateX "{path}" 0x40 0x1 {handle} {_MISSING}'
    yield f'NTCreateX "{path}" 0x40 0x2 {handle} {_OK}'
    yield f"QUERY_FS_INFORMATION {_SIZE_OF_DISK} {_OK}"
    for offset, length in _blocks(size_bytes):
        yield f"WriteX {handle} {offset} {length} {length} {_OK}"
    yield f"QUERY_FILE_INFORMATION {handle} {_STANDARD} {_OK}"
    yield f"SET_FILE_INFORMATION {handle} {_BASIC} {_OK}"
    if flushed:
        yield f"Flush {handle} {_OK}"
    yield f"Close {handle} {_OK}"


def _saved_anew(path: str, size_bytes: int, handles: Iterator[int]) -> Iterator[str]:
    """As office programs save: a new file, which replaces the old one."""
    beside = path.replace(".dat", ".tmp")
    yield f'FIND_FIRST "{beside}" 260 1366 0 {_NO_FILE}'
    yield from _written(beside, size_bytes, next(handles))
    yield f'Unlink "{path}" 0x6 {_OK}'
    yield f'Rename "{beside}" "{path}" {_OK}'
    yield f'QUERY_PATH_INFORMATION "{path}" {_BASIC} {_OK}'


def _changed(path: str, size_bytes: int, handle: int) -> Iterator[str]:
    """A sheet changed in two places, each under a lock."""
    yield f'NTCreateX "{path}" 0x40 0x1 {handle} {_OK}'
    for offset in (0, size_bytes // 2):
        yield f"LockX {handle} {offset} 2048 {_OK}"
        yield f"ReadX {handle} {offset} 2048 2048 {_OK}"
        yield f"WriteX {handle} {offset} 2048 2048 {_OK}"
        yield f"UnlockX {handle} {offset} 2048 {_OK}"
    yield f"Close {handle} {_OK}"


def _thrown_away(path: str, handle: int) -> Iterator[str]:
    yield from _written(path, _SIZES[0], handle, flushed=True)
    yield f'Unlink "{path}" 0x6 {_OK}'
    yield f'QUERY_PATH_INFORMATION "{path}" {_BASIC} {_MISSING}'


def _blocks(size_bytes: int) -> Iterator[tuple[int, int]]:
    """(offset, length) in bytes of each request."""
    for offset in range(0, size_bytes, _BLOCK_BYTES):
        yield offset, min(_BLOCK_BYTES, size_bytes - offset)
