"""What the time of a put includes, as its form says it."""

from collections.abc import Iterable, Iterator

from forms.findings import path as series_path
from forms.report import Field, fields_of
from forms.tuning.differences import effective
from forms.tuning.smb_conf import same_value
from storage import records

PUT_END = "Put timed"
FLUSHED = "flushed"
"""The fact of that field."""

_FLUSH_IS_IGNORED = ("strict sync", "no")
"""With this setting smbd answers a flush, and leaves the data in memory."""


def put_end_fields(series: records.Series) -> Iterator[Field]:
    text = put_end_of(series)
    if text:
        yield Field(name=PUT_END, text=text, facts=((FLUSHED, "yes" if series.flushed else "no"),))


def put_end_fields_of_several(several: Iterable[records.Series]) -> Iterator[Field]:
    texts = dict.fromkeys(put_end_of(series) for series in several)
    yield from fields_of((PUT_END, "; ".join(filter(None, texts))))


def put_end_of(series: records.Series) -> str:
    """Also empty for a form that was filled by hand: its client has no version, and nobody knows."""
    if not series.client.version:
        return ""
    setting, value = _FLUSH_IS_IGNORED
    current = effective(series_path.server_facts(series), setting)
    is_ignored = current is not None and same_value(setting, current, value)
    return put_end(series.command, series.target, flushed=series.flushed, is_ignored=is_ignored)


def put_end(command: records.Command, target: records.Target, *, flushed: bool, is_ignored: bool = False) -> str:
    """What the time of each put includes; empty for a get, and where nothing is stored.

    ``is_ignored``: the server answers a flush without one.
    """
    if command is not records.Command.PUT or not target.abilities.moves_files:
        return ""
    if flushed and is_ignored:
        setting, value = _FLUSH_IS_IGNORED
        return f"until the server had answered the flush, which it ignores ({setting} = {value})"
    if flushed:
        return "until it was flushed to the disk"
    if target.abilities.is_local:
        return "until the kernel had taken the data; they may not be on the disk yet"
    return "until the server had answered; the data may not be on its disk yet"
