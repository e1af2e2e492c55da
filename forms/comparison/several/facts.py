"""What a reader who has only the page needs to know of the series compared: the server, the file, the client, the link.

What all series share is said once; where they differ, each value stands behind the names that have it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from forms import report, wording
from forms.comparison.several.sides import ComparedSide
from forms.findings import full_links, path
from forms.findings.link_text import link_text
from forms.series.client_text import client_text
from forms.series.run_table import LINK
from storage import records


def measured_fields(sides: Sequence[ComparedSide], *, is_one_path: bool) -> Iterator[report.Field]:
    """What was measured, of how many runs, by which client, over which link.

    ``is_one_path``: whether all have one server and direction; else their names and the table of them say where.
    """
    texts: list[tuple[str, Callable[[ComparedSide], str]]] = [
        ("Samba", _samba_text),
        ("File", _size_text),
        ("Runs", _runs_text),
        ("Client", _client_text),
        (LINK, _used_link_text if is_one_path else _link_text),
    ]
    if is_one_path:
        texts = [("Target", _target_text), ("Command", _command_text), *texts]

    for name, text_of in texts:
        text = shared_text({side.series_id: (side.name, text_of(side)) for side in sides})
        if text:
            yield report.Field(name=name, text=text)


def shared_text(texts: Mapping[str, tuple[str, str]]) -> str:
    """The text that all have, or each one behind the names that have it; ``texts`` are (name, text) by the ids."""
    names_by_text: dict[str, list[str]] = {}
    for name, text in texts.values():
        names_by_text.setdefault(text, []).append(name)
    if len(names_by_text) == 1:
        return next(iter(names_by_text))
    parts = [f"{wording.listed(names)}: {text or 'unknown'}" for text, names in names_by_text.items()]
    return "; ".join(parts)


def _series_of(side: ComparedSide) -> records.Series:
    """The series that was named; those that are averaged with it share its settings."""
    return side.summaries[0].series


def _target_text(side: ComparedSide) -> str:
    return wording.place(_series_of(side).target)


def _command_text(side: ComparedSide) -> str:
    command = _series_of(side).command
    direction = "from the server to the client" if command is records.Command.GET else "from the client to the server"
    return f"{command}, {direction}"


def _samba_text(side: ComparedSide) -> str:
    return wording.plain(str(path.server_facts(_series_of(side)).get("samba.version", "")))


def _size_text(side: ComparedSide) -> str:
    sizes = sorted(set().union(*(summary.series.file_sizes() for summary in side.summaries)))
    if not sizes:
        return ""
    if len(sizes) > 1:
        return f"{wording.file_size(sizes[0])} to {wording.file_size(sizes[-1])}"
    return f"{wording.binary_size(sizes[0])} ({sizes[0]:,} bytes)"


def _runs_text(side: ComparedSide) -> str:
    runs = " + ".join(str(len(summary.series.measured())) for summary in side.summaries)
    warm_ups = len(side.summaries[0].warm_ups)
    after = f", after {wording.count(warm_ups, 'warm-up run')}" if warm_ups else ""
    in_each = " in each series" if len(side.summaries) > 1 and after else ""
    return f"{runs} measured{after}{in_each}"


def _client_text(side: ComparedSide) -> str:
    return wording.plain(client_text(_series_of(side).client))


def _used_link_text(side: ComparedSide) -> str:
    """The link, and how much of it was used."""
    text = _link_text(side)
    average = side.average
    series = _series_of(side)
    used_share = _share_text(average, full_links.carrying_link_rate(series, average))
    if full_links.is_link_overstated(series, average):
        of_given = _share_text(average, series.link_bits_per_second)
        return f"{text}, of which {used_share} was used ({of_given} of the speed that was given)"
    return f"{text} ({used_share} used)" if used_share else text


def _link_text(side: ComparedSide) -> str:
    """The speed of the link, and what sets it where that is no link."""
    return link_text(_series_of(side), side.average)


def _share_text(average: float | None, link_bits: float | None) -> str:
    share = records.percent_of_link(average, round(link_bits)) if link_bits else None
    return wording.percent(share) if share is not None else ""
