"""The judgement of a quick test in sentences: what limits its lines, and whether a faster network would help them."""

from collections.abc import Iterator, Sequence

from forms import layout, wording
from forms.quick import limits, summary
from storage import records
from storage.quick import records as quick_records

_SEQ_Q8, _SEQ_Q1, _RND_Q32, _RND_Q1 = quick_records.ACCESSES
_NAMES = {
    _SEQ_Q8: ("large", ""),
    _SEQ_Q1: ("large", " one by one"),
    _RND_Q32: ("small", " 32 at once"),
    _RND_Q1: ("small", " one by one"),
}
"""What people call the lines of each access: before and after ``reads`` or ``writes``."""
_WAYS_TO_HELP = {
    limits.LineLimit.LINK: "{network} would help {lines}",
    limits.LineLimit.SERVER: "{network} would not help {lines}",
    limits.LineLimit.CLIENT: "{network} would not help {lines}",
    None: "whether {network} would help {lines} is not clear",
    limits.LineLimit.ROUND_TRIP: "{lines} would need a shorter way, not a faster one",
    limits.LineLimit.PATH: "{lines} would need a faster and a shorter way",
}
"""By what limits a line, None where that is in doubt; in the order in which they are said."""


def quick_answer(quick: quick_records.Quick) -> layout.Toned:
    """What limits the lines, with their figures, and which of them a faster network would help; or how far it came."""
    answer = limits_answer(quick)
    network = network_text(quick)
    return layout.Toned(f"{answer.text} {network}.", answer.tone) if network else answer


def limits_answer(quick: quick_records.Quick) -> layout.Toned:
    """What limits the lines, with their figures; or how far it came."""
    judgement = judgement_text(quick)
    if quick.status is records.SeriesStatus.COMPLETE and judgement:
        return layout.Toned(f"{judgement}.")

    reason = f": {wording.plain(quick.error)}" if quick.error else ""
    if not judgement:
        return layout.Toned(f"Nothing was measured{reason}.", layout.Tone.CAUTION)
    ended = wording.ended_early(quick.status, reason)
    return layout.Toned(f"{ended.text}. {judgement}.", ended.tone)


# What limits


def judgement_text(quick: quick_records.Quick) -> str:
    """``The link limits large reads (112 MB/s); …``, without a full stop; empty where nothing was measured.

    It names each of the four lines that every quick test has, those alike together.
    """
    groups: dict[str, list[summary.LineFigures]] = {}
    for figures in summary.quick_figures(quick):
        if figures.line.access in _NAMES:
            groups.setdefault(_judgement_pattern(quick, figures), []).append(figures)

    texts = []
    for pattern, lines in groups.items():
        texts.append(pattern.format(lines=wording.listed(list(_amount_texts(quick, lines)))))
    return _sentence("; ".join(texts))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _judgement_pattern(quick: quick_records.Quick, figures: summary.LineFigures) -> str:
    """What is said of all lines that are alike, in place of which ``{lines}`` stands."""
    if figures.limit is None:
        program = wording.plain(quick.program).replace("{", "{{").replace("}", "}}")
        return f"{program} shows {{lines}}"
    if figures.is_beyond_link:
        return "{lines} are more than the link can carry, so that its speed (--link) is another"
    if figures.is_restless:
        return f"what limits {{lines}} is not clear, as runs differ by over {summary.RESTLESS_PERCENT:.0f} %"
    if figures.is_full_link:
        return "{lines} are as fast as the link allows"
    return f"{limit_name(figures.limit, quick)} limits {{lines}}"


def _amount_texts(quick: quick_records.Quick, lines: Sequence[summary.LineFigures]) -> Iterator[str]:
    """``large reads and writes (117.0 MB/s and 116.0 MB/s)`` of each access."""
    for access, of_access in _by_access(lines).items():
        size, manner = _NAMES[access]
        directions = ["reads" if figures.line.reads else "writes" for figures in of_access]
        yield f"{size} {wording.listed(directions)}{manner} ({_amount_text(quick, of_access)})"


def _by_access(lines: Sequence[summary.LineFigures]) -> dict[quick_records.Access, list[summary.LineFigures]]:
    of_accesses: dict[quick_records.Access, list[summary.LineFigures]] = {}
    for figures in lines:
        of_accesses.setdefault(figures.line.access, []).append(figures)
    return of_accesses


def _amount_text(quick: quick_records.Quick, of_access: Sequence[summary.LineFigures]) -> str:
    """Of single small requests their time, and how much of it the path needs; of others their rate, as in the table."""
    access = of_access[0].line.access
    times = [figures.request_seconds for figures in of_access if figures.request_seconds is not None]
    if access != _RND_Q1 or len(times) < len(of_access):
        return _with_one_unit([wording.table_rate(figures.bytes_per_second) for figures in of_access])

    texts = [wording.milliseconds(seconds) for seconds in times]
    text = f"{_with_one_unit(texts)} each"
    needed_seconds = limits.path_seconds(quick, access)
    if needed_seconds is None:
        return text
    return f"{text}, of which the path needs {wording.milliseconds(min(needed_seconds, *times))}"


def _with_one_unit(amounts: Sequence[str]) -> str:
    """``117.0 and 116.0 MB/s``"""
    *others, last = amounts
    numbers = [amount.rpartition(" ")[0] for amount in others]
    return wording.listed([*numbers, last])


def limit_name(limit: limits.LineLimit, quick: quick_records.Quick) -> str:
    """As in the middle of a sentence."""
    match limit:
        case limits.LineLimit.LINK:
            return "the link"
        case limits.LineLimit.CLIENT:
            return "this client"
        case limits.LineLimit.ROUND_TRIP:
            return "the round trip of a request"
        case limits.LineLimit.PATH:
            return "the path, by its round trip and link together,"
    if quick.past_page_cache is None:
        return "the server or its disk"
    return "the disk" if quick.past_page_cache else "the page cache"


def limit_legend(quick: quick_records.Quick, lines: Sequence[summary.LineFigures]) -> str:
    """What the words for the limits of these lines mean: ``client: the computer that measured; …``."""
    meanings = {
        limits.LineLimit.LINK: "the network's speed",
        limits.LineLimit.CLIENT: "the computer that measured, with sharebench",
        limits.LineLimit.ROUND_TRIP: "a request's way there and back",
        limits.LineLimit.PATH: "round trip and link together",
        limits.LineLimit.SERVER: limit_name(limits.LineLimit.SERVER, quick),
    }
    shown_limits = {figures.limit for figures in lines}
    texts = [f"{limit}: {meaning}" for limit, meaning in meanings.items() if limit in shown_limits]
    if any(figures.limit and figures.is_limit_doubtful for figures in lines):
        texts.append("?: the runs do not tell for sure")
    return "; ".join(texts)


# The network


def network_text(quick: quick_records.Quick) -> str:
    """``A faster network would help SEQ1M Q8; …``, without a full stop.

    Empty without a network, and where its speed is unknown: then nobody can say whether it was full.
    """
    is_network = quick.target is not None and not quick.target.abilities.is_local
    if not is_network or quick.link_bits_per_second is None:
        return ""

    groups: dict[str, list[summary.LineFigures]] = {pattern: [] for pattern in _WAYS_TO_HELP.values()}
    for figures in summary.quick_figures(quick):
        if figures.limit is not None:
            limit = None if figures.is_limit_doubtful else figures.limit
            groups[_WAYS_TO_HELP[limit]].append(figures)

    texts: list[str] = []
    for pattern, lines in groups.items():
        if lines:
            network = "it" if texts else "a faster network"
            texts.append(pattern.format(network=network, lines=_line_names(lines)))
    return _sentence("; ".join(texts))


def _line_names(lines: Sequence[summary.LineFigures]) -> str:
    """The names of lines as in the table; of an access whose reads and writes are both there, its own."""
    names = []
    for access, of_access in _by_access(lines).items():
        names.append(of_access[0].line.name if len(of_access) == 1 else access.name)
    return wording.listed(names)
