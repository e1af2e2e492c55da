"""Series read from files: the series document, or a filled form as CSV."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from forms.importers.filled_form import series_from_csv
from forms.importers.trial import ImportedTrial, is_trial, trial_from_document
from forms.series.document import SCHEMA, series_from_document
from storage.json_reader import DocumentError, JSONNode
from storage.records import Command, Run, Series, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a file may not say itself, and how the words in it are read."""

    target_of: Callable[[str], Target]
    """Reads a URL; its errors are ValueErrors or what the caller expects."""
    command: Command = Command.GET
    target: Target | None = None
    size_bytes: int | None = None
    link_bits_per_second: int | None = None


def read_series(content: bytes, given: Given) -> list[Series]:
    """All series of a file, of either format.

    Raises DocumentError, naming the first place that is wrong; then nothing of the file is to be used.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentError(f"byte {error.start}: not UTF-8 text") from error
    if text.lstrip()[:1] in {"{", "["}:
        return [check(series) for series in _from_json(text)]
    found = series_from_csv(
        text,
        target_of=given.target_of,
        command=given.command,
        target=given.target,
        size_bytes=given.size_bytes,
        link_bits_per_second=given.link_bits_per_second,
    )
    return [check(series) for series in found]


def read_trial(content: bytes) -> ImportedTrial | None:
    """The trial or sweep of a file that :func:`read_series` has read; None where it holds neither."""
    text = content.decode("utf-8-sig")
    if not text.lstrip().startswith("{"):
        return None
    document = loads(text)
    return trial_from_document(document) if is_trial(document) else None


def _from_json(text: str) -> list[Series]:
    document = loads(text)
    if is_trial(document):
        return list(trial_from_document(document).series)
    if isinstance(document, dict):
        return [series_from_document(document)]
    found = []
    for place in JSONNode("", document).items():
        try:
            found.append(series_from_document(place.value))
        except DocumentError as error:
            raise DocumentError(f"{place.name}.{error}") from error
    if not found:
        raise DocumentError(f'an empty array: expected objects of schema "{SCHEMA}"')
    return found


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
