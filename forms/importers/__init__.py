"""Series read from files: the series document, hyperfine's JSON, a filled form as CSV."""

from collections.abc import Callable
from dataclasses import dataclass

from forms.importers.filled_form import series_from_csv
from forms.importers.hyperfine import is_hyperfine, series_from_hyperfine
from forms.importers.plausible import check, loads
from forms.series.document import SCHEMA
from forms.series.document_reader import series_from_document
from storage.json_reader import DocumentError, JSONNode
from storage.records import Command, Series, Target


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
    """All series of a file, whichever of the three it is.

    Raises DocumentError, naming the first place that is wrong; then nothing of the file is to be used.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentError(f"byte {error.start}: not UTF-8 text") from error
    if text.lstrip()[:1] in {"{", "["}:
        return [check(series) for series in _from_json(text, given)]
    found = series_from_csv(
        text,
        target_of=given.target_of,
        command=given.command,
        target=given.target,
        size_bytes=given.size_bytes,
        link_bits_per_second=given.link_bits_per_second,
    )
    return [check(series) for series in found]


def _from_json(text: str, given: Given) -> list[Series]:
    document = loads(text)
    if is_hyperfine(document):
        return series_from_hyperfine(
            document,
            command=given.command,
            target=given.target,
            size_bytes=given.size_bytes,
            link_bits_per_second=given.link_bits_per_second,
        )
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
