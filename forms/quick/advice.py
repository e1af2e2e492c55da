"""What is to be known of the figures of a quick test: which are weak and what to do, and what they are held against."""

from collections.abc import Iterator, Sequence

from forms import wording
from forms.findings import path
from forms.quick import comparison, limits, line_names, since_before, summary
from forms.quick.disk_reference import disk_reference
from forms.tuning import usual_server
from storage.quick import records as quick_records

SINGLE_SMALL = quick_records.ACCESSES[-1]
"""Single small requests."""
WAITED_PERCENT = 10.0
"""Of the time of a run: a client that waited for a processor for as long was disturbed by other programs there."""


def quick_advice(
    quick: quick_records.Quick,
    figures: Sequence[summary.LineFigures],
    since: comparison.QuickComparison | None = None,
) -> Iterator[str]:
    """Sentences on what makes the figures weak, and on what they are held against.

    ``since``: the quick test before of the same target compared with it, where there is one.
    """
    if not figures:
        return
    if quick.program:
        yield (
            f"{wording.plain(quick.program)} tells its best run of each line, not the average: such figures are higher"
            " than those of sharebench for the same server."
        )
        return

    yield from _restless_text(figures, since)
    yield from since_before.judgements_since(since)
    yield from _usual_text(quick, figures)
    yield from _disk_text(quick, figures)
    slow_clients = [line for line in figures if line.limit is limits.LineLimit.CLIENT and not line.is_restless]
    if slow_clients:
        names = wording.listed([line.line.quoted_name for line in slow_clients])
        text = f"This client was the limit of {names}: the server may be faster than these figures."
        yield f"{text}{_busy_text(slow_clients)}"
    if quick.past_page_cache is None:
        yield (
            "The file was written just before: what fits into the server's memory is read from there, not from its"
            " disk. A write counts once the server has answered it, which may be before its disk has it."
        )
    elif not quick.past_page_cache:
        yield "This file system does not let requests past the page cache: its figures are those of memory."
    yield from _split_text(quick)


def _restless_text(figures: Sequence[summary.LineFigures], since: comparison.QuickComparison | None) -> Iterator[str]:
    """Which runs differ, why as far as that is known, what to do, and what is certain all the same."""
    restless = [line for line in figures if line.is_restless]
    if not restless:
        return
    names = line_names.names_of(restless, figures)
    differing = f"The three runs of {names} differ by over {summary.RESTLESS_PERCENT:.0f} %"
    yield f"{differing}: {_disturber(restless)} {_what_to_do(figures, restless, since)}"

    certain = [line for line in restless if not line.is_limit_doubtful]
    if certain:
        names = line_names.names_of(certain, figures)
        yield f"Certain all the same is what limits {names}: it was the same in each of the three runs."
    bounded = [line for line in restless if line.link_gain and line.link_gain.most_percent is not None]
    if bounded:
        names = line_names.names_of(bounded, figures)
        yield f"The most that a faster network may add to {names} allows for runs as far apart."


def busy_client_text(figures: Sequence[summary.LineFigures], since: comparison.QuickComparison | None) -> str:
    """For the answer: that other programs here disturbed the runs, and what to do; empty where they did not.

    After a repeat that was no quieter, nobody is asked to measure a third time.
    """
    restless = [line for line in figures if line.is_restless]
    is_busy = any((line.waited_percent or 0.0) >= WAITED_PERCENT for line in restless)
    if not is_busy or _is_noisy_again(restless, since):
        return ""
    return "This computer was busy with other work: measure again when nothing else runs."


def _is_noisy_again(restless: Sequence[summary.LineFigures], since: comparison.QuickComparison | None) -> bool:
    """Whether a line is restless that was so in the quick test before."""
    restless_before = {line.name for line in since_before.lines_since(since) if line.before.is_restless}
    return any(line.line.quoted_name in restless_before for line in restless)


def _disturber(restless: Sequence[summary.LineFigures]) -> str:
    """Who disturbed the runs: other programs here, where the client waited for a processor; else nobody knows."""
    waited_percent = max((line.waited_percent or 0.0 for line in restless), default=0.0)
    if waited_percent < WAITED_PERCENT:
        return "something else was at work on the server, on its disk or on the network."
    percent = wording.percent(waited_percent)
    return f"other programs took the client's processors meanwhile, for which it waited up to {percent} of a run."


def _what_to_do(
    figures: Sequence[summary.LineFigures],
    restless: Sequence[summary.LineFigures],
    since: comparison.QuickComparison | None,
) -> str:
    """To measure once more; after a repeat that was no quieter, which figures to quote."""
    if not _is_noisy_again(restless, since):
        return "Measure once more when nothing else runs."

    lines_since = since_before.lines_since(since)
    disputed_names = {line.name for line in lines_since if line.is_disputed}
    disputed = [line for line in figures if line.line.quoted_name in disputed_names]
    undisputed = [line for line in figures if line not in disputed]
    steady = [line for line in undisputed if not line.is_restless]
    sized = [line for line in undisputed if line.is_restless]

    texts = []
    if steady:
        texts.append(f"{line_names.names_of(steady, figures)}")
    if sized:
        texts.append(f"{line_names.names_of(sized, figures)} only roughly")
    if disputed:
        texts.append(f"{line_names.names_of(disputed, figures)} not at all")
    return f"The quick test before was no quieter: it stays like that here. Quote {'; '.join(texts)}."


def _busy_text(slow_clients: Sequence[summary.LineFigures]) -> str:
    """That others had its processors, where it did not compute that long by itself."""
    if all((line.client_percent or 0.0) >= limits.BUSY_CLIENT_PERCENT for line in slow_clients):
        return ""
    return " Other programs had its processors: measure again when they have ended, or on another machine (--from)."


def _usual_text(quick: quick_records.Quick, figures: Sequence[summary.LineFigures]) -> Iterator[str]:
    """What a usual server on this path takes for a small read, with the source."""
    network_seconds = path.number_of_fact(quick.environment.get("path", {}), path.TCP_ROUND_TRIP)
    small_reads = [line for line in figures if line.line.access == SINGLE_SMALL and line.line.reads]
    if network_seconds is None or not small_reads or small_reads[0].request_seconds is None:
        return

    on_link = limits.seconds_on_link(quick, SINGLE_SMALL)
    usual_seconds = network_seconds + on_link + usual_server.usual_request_seconds("read")
    source = usual_server.usual_server()["request_source"]
    usual_text = line_names.few_milliseconds(usual_seconds)
    own_text = line_names.few_milliseconds(small_reads[0].request_seconds)
    yield (
        f"A usual server on this path takes {usual_text} for a small read from its memory, this one {own_text}"
        f" ({source})."
    )


def _disk_text(quick: quick_records.Quick, figures: Sequence[summary.LineFigures]) -> Iterator[str]:
    """What the column of the disk of reference says, and where its figures are from."""
    if not any(line.bytes_per_second_with_disk for line in figures):
        return

    disk = disk_reference()
    if quick.past_page_cache is not None:
        yield f"With a {disk['name']}: what such a disk moves by itself ({disk['source']})."
        return
    is_capped = any(line.is_disk_beyond_client for line in figures)
    client_text = ", and no more than this client takes" if is_capped else ""
    yield (
        f"With a {disk['name']}: what a usual server reaches on this path where every request goes to such a disk"
        f"{client_text}; one that answers from its memory is faster ({disk['source']})."
    )


def _split_text(quick: quick_records.Quick) -> Iterator[str]:
    """Where the server takes no whole block, or grants fewer requests at once than a line asks for."""
    parts = {line.request_bytes for line in quick.lines if line.request_bytes}
    if parts:
        size = wording.binary_size(min(parts))
        yield f"The server takes requests of at most {size}: blocks of 1 MiB were asked for in parts; ms is of a part."
    wanted_in_flight = quick_records.ACCESSES[0].in_flight
    granted = quick.client.in_flight if quick.client else None
    is_network = quick.past_page_cache is None
    if is_network and granted is not None and granted < wanted_in_flight and not parts:
        asked_text = f"where {wanted_in_flight} were asked for"
        yield f"The server's credits allow {granted} requests of 1 MiB at once, {asked_text}."
