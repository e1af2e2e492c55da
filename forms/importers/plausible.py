"""What no measurement can have been and no notebook can hold, found before anything of a file is used."""

import json
from typing import Any, NoReturn

from storage.json_reader import DocumentError
from storage.records import Run, Series

SHORTEST_SECONDS, LONGEST_SECONDS = 1e-9, 1e9
_LARGEST_WHOLE = 2**63 - 1
"""The largest whole number that SQLite holds."""


def loads(text: str) -> Any:
    """A JSON document whose numbers and texts a notebook can hold. Raises DocumentError."""
    try:
        document = json.loads(text, parse_constant=_refuse, parse_float=_finite, parse_int=_storable)
        json.dumps(document, ensure_ascii=False).encode(errors="surrogateescape")  # a byte of a name is kept
    except UnicodeEncodeError as error:
        raise DocumentError("a text has half of a surrogate pair, which no UTF-8 can hold") from error
    except ValueError as error:
        raise DocumentError(f"not JSON: {error}") from error
    except RecursionError as error:
        raise DocumentError("not JSON that anybody wrote: nested too deep") from error
    return document


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in {float("inf"), float("-inf")}:
        raise ValueError(f"{digits} is too large")
    return number


def _storable(digits: str) -> int:
    number = int(digits) if len(digits) <= 20 else _LARGEST_WHOLE + 1
    if abs(number) > _LARGEST_WHOLE:
        raise ValueError(f"{digits[:20]} is too large")
    return number


def check(series: Series) -> Series:
    """The series, where all of its numbers can be. Raises DocumentError."""
    client, target = series.client, series.target
    for name, number in (
        ("link_bits_per_second", series.link_bits_per_second),
        ("client.block_bytes", client.block_bytes),
        ("client.in_flight", client.in_flight),
        ("target.port", target.port),
    ):
        if number is not None and number > _LARGEST_WHOLE:
            raise DocumentError(f"{name}: {number} is too large")
    for run in series.runs:
        _check_run(run)
    return series


def _check_run(run: Run) -> None:
    place = f"{run.phase.value} run {run.number}"
    if max(run.number, run.size_bytes) > _LARGEST_WHOLE:
        raise DocumentError(f"{place}: a number is too large")
    if run.seconds is not None and not SHORTEST_SECONDS <= run.seconds <= LONGEST_SECONDS:
        raise DocumentError(
            f"{place}: {run.seconds} seconds are too {'short' if run.seconds < 1 else 'long'} for a run"
        )
