"""The answer of a quick test: which of its lines a faster network would help; else what limits them."""

from collections.abc import Iterator, Sequence

from forms import layout, wording
from forms.findings.rules_link import FULL_ETHERNET_PERCENT
from forms.quick import faster_network, limits, line_names, summary
from storage import records
from storage.quick import records as quick_records

_SPEED = "A faster network (more Gbit/s)"
_WAY = "A shorter way to the server"
_USUAL_LINKS = (100_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000)
"""The bits per second of Ethernet."""
_BOUNDED = frozenset({faster_network.NetworkHelp.AT_MOST, faster_network.NetworkHelp.HARDLY})
_WAY_LIMITS = frozenset({limits.LineLimit.ROUND_TRIP, limits.LineLimit.PATH})


def quick_answer(quick: quick_records.Quick) -> layout.Toned:
    """Which lines a faster network would help; without a network what limits them, or how far it came."""
    return _with_its_end(quick, _answer_text(quick))


def limits_answer(quick: quick_records.Quick) -> layout.Toned:
    """What limits the lines; or how far it came."""
    return _with_its_end(quick, limits_text(quick))


def _answer_text(quick: quick_records.Quick) -> str:
    network = network_text(quick)
    if network:
        return network

    judgement = limits_text(quick)
    if not judgement or not is_link_speed_missing(quick):
        return judgement
    bits_per_second = _link_it_would_fill(quick)
    if bits_per_second is None:
        return f"{judgement} Whether a faster network would help is known with the link's speed (--link)."
    speed = wording.link_rate(bits_per_second)
    option = f"--link {wording.typed_rate(bits_per_second)}"
    return (
        f"If the link has {speed}, SEQ1M is as fast as it allows: measure again with its speed ({option}). {judgement}"
    )


def is_link_speed_missing(quick: quick_records.Quick) -> bool:
    """Whether there is a link that may be the limit, of a speed that nobody has told."""
    is_network = quick.target is not None and not quick.target.abilities.is_local
    return is_network and not quick.loopback and quick.link_bits_per_second is None


def _link_it_would_fill(quick: quick_records.Quick) -> int | None:
    """The speed of the usual link that the fastest line would fill; None where it would fill none of them."""
    rates = [figures.bytes_per_second for figures in summary.quick_figures(quick) if not figures.line.access.random]
    least_percent, most_percent = FULL_ETHERNET_PERCENT
    for bits_per_second in _USUAL_LINKS:
        percent = records.percent_of_link(max(rates, default=0.0), bits_per_second)
        if percent is not None and least_percent <= percent <= most_percent:
            return bits_per_second
    return None


def _with_its_end(quick: quick_records.Quick, text: str) -> layout.Toned:
    if quick.status is records.SeriesStatus.COMPLETE and text:
        return layout.Toned(text)

    reason = f": {wording.plain(quick.error)}" if quick.error else ""
    if not text:
        return layout.Toned(f"Nothing was measured{reason}.", layout.Tone.CAUTION)
    ended = wording.ended_early(quick.status, reason)
    return layout.Toned(f"{ended.text}. {text}", ended.tone)


# What limits


def limits_text(quick: quick_records.Quick) -> str:
    """``The link limits SEQ1M; the server or its disk limits RND4K.``; empty where nothing was measured."""
    all_lines = summary.quick_figures(quick)
    if quick.program:
        return _told_text(quick, all_lines)

    groups: dict[str, list[summary.LineFigures]] = {}
    for figures in all_lines:
        groups.setdefault(_limit_pattern(quick, figures), []).append(figures)
    texts = [pattern.format(lines=line_names.names_of(lines, all_lines)) for pattern, lines in groups.items()]
    return f"{_sentence('; '.join(texts))}." if texts else ""


def _told_text(quick: quick_records.Quick, all_lines: Sequence[summary.LineFigures]) -> str:
    """``CrystalDiskMark 8.0.4 shows SEQ1M Q8T1 read 120.0 MB/s, …``"""
    texts = [f"{figures.line.quoted_name} {wording.table_rate(figures.bytes_per_second)}" for figures in all_lines]
    return f"{wording.plain(quick.program)} shows {wording.listed(texts)}." if texts else ""


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _limit_pattern(quick: quick_records.Quick, figures: summary.LineFigures) -> str:
    """What is said of all lines that are alike, in place of which ``{lines}`` stands."""
    if figures.is_beyond_link:
        return "more than the link can carry was moved by {lines}, so that its speed (--link) is another"
    if figures.is_limit_doubtful or figures.limit is None:
        return "what limits {lines} is not clear"
    return f"{limit_name(figures.limit, quick)} limits {{lines}}"


def limit_name(limit: limits.LineLimit, quick: quick_records.Quick) -> str:
    """As in the middle of a sentence."""
    match limit:
        case limits.LineLimit.LINK:
            return "the link"
        case limits.LineLimit.CLIENT:
            return "the client"
        case limits.LineLimit.ROUND_TRIP:
            return "the round trip of a request"
        case limits.LineLimit.PATH:
            return "the path (round trip and link together)"
    if is_link_speed_missing(quick):
        return "the server, its disk or the link"
    if quick.past_page_cache is None:
        return "the server or its disk"
    return "the disk" if quick.past_page_cache else "the page cache"


def limit_legend(quick: quick_records.Quick, lines: Sequence[summary.LineFigures], *, is_disputed: bool = False) -> str:
    """What the words for the limits of these lines mean: ``client: the computer that …; …``.

    ``is_disputed``: the quick test before names another limit of one of them.
    """
    meanings = {
        limits.LineLimit.LINK: "the speed of the network",
        limits.LineLimit.CLIENT: f"the computer that runs sharebench{_client_name(quick)}",
        limits.LineLimit.ROUND_TRIP: "a request's way there and back, and what any request takes",
        limits.LineLimit.PATH: "round trip and link together",
        limits.LineLimit.SERVER: limit_name(limits.LineLimit.SERVER, quick),
    }
    texts = [f"{limit}: {meaning}" for limit, meaning in meanings.items() if limit in _shown_limits(lines)]
    reasons = []
    if any(figures.limit and figures.is_limit_doubtful for figures in lines):
        reasons.append("its three runs do not agree")
    if is_disputed:
        reasons.append("the quick test before says another")
    if reasons:
        texts.append(f"?: {', or '.join(reasons)}")
    return "; ".join(texts)


def _shown_limits(lines: Sequence[summary.LineFigures]) -> set[limits.LineLimit | None]:
    """Those that limit a line now, or would if the server answered at once."""
    return {figures.limit for figures in lines} | {figures.allowance.limit for figures in lines if figures.allowance}


def _client_name(quick: quick_records.Quick) -> str:
    """Such as `` (desk)``; empty where its name is unknown."""
    name = quick.environment.get("client", {}).get("host.name")
    return f" ({wording.plain(str(name))})" if name else ""


# The network


def network_text(quick: quick_records.Quick) -> str:
    """``A faster network would help SEQ1M; RND4K Q1T1 by at most 30 %.``, and what a shorter way would do.

    Empty without a network, and where its speed is unknown: then nobody can say whether it was full.
    """
    all_lines = summary.quick_figures(quick)
    texts = list(_speed_texts(all_lines))
    unclear_lines = _lines_of(all_lines, faster_network.NetworkHelp.UNCLEAR)
    sentences = [f"{_SPEED} would help {'; '.join(texts)}."] if texts else []
    if unclear_lines:
        names = line_names.names_of(unclear_lines, all_lines)
        pronoun = "it" if texts else "a faster network (more Gbit/s)"
        sentences.append(f"Whether {pronoun} would help {names} is not clear{_unclear_reason(unclear_lines)}.")

    way_texts = list(_way_texts(quick, all_lines)) if sentences else []
    if way_texts:
        sentences.append(f"{_WAY} would help {'; '.join(way_texts)}.")
    return " ".join(sentences)


def _lines_of(
    all_lines: Sequence[summary.LineFigures], network_help: faster_network.NetworkHelp
) -> list[summary.LineFigures]:
    return [figures for figures in all_lines if figures.link_gain and figures.link_gain.help is network_help]


def _speed_texts(all_lines: Sequence[summary.LineFigures]) -> Iterator[str]:
    helped_lines = _lines_of(all_lines, faster_network.NetworkHelp.HELPS)
    if helped_lines:
        yield line_names.names_of(helped_lines, all_lines)

    # Reads and writes of an access have one bound, the larger: in the order of the table those above hardly anything.
    hardly_lines: list[summary.LineFigures] = []
    bounded_lines = [figures for figures in all_lines if figures.link_gain and figures.link_gain.help in _BOUNDED]
    for of_access in line_names.by_access(bounded_lines).values():
        gains = [figures.link_gain for figures in of_access if figures.link_gain]
        if all(gain.help is faster_network.NetworkHelp.HARDLY for gain in gains):
            hardly_lines += of_access
        else:
            yield f"{line_names.names_of(of_access, all_lines)} by {_gain_text(gains)}"

    if hardly_lines:
        yield f"{line_names.names_of(hardly_lines, all_lines)} by {faster_network.HARDLY_TEXT}"


def _gain_text(gains: Sequence[faster_network.LinkGain]) -> str:
    """The largest: ``at most 30 %``, or ``about 19 % (at most 33 %, as its runs differ)`` where its bound is rough."""
    bound = bound_text(gains)
    likely = max(gains, key=_told_percent).likely_text
    return f"{likely} (at most {bound}, as its runs differ)" if likely else f"at most {bound}"


def bound_text(gains: Sequence[faster_network.LinkGain]) -> str:
    """The largest of these bounds: ``30 %``."""
    return wording.percent(max(gains, key=_told_percent).told_percent)


def _told_percent(gain: faster_network.LinkGain) -> float:
    return gain.told_percent


def _unclear_reason(lines: Sequence[summary.LineFigures]) -> str:
    if any(figures.is_beyond_link for figures in lines):
        return ": they moved more than the link can carry, so that its speed (--link) is another"
    if any(figures.is_limit_doubtful for figures in lines):
        return ", as its three runs do not agree"
    return ": an equal quick test may come close to what the link carries"


def _way_texts(quick: quick_records.Quick, all_lines: Sequence[summary.LineFigures]) -> Iterator[str]:
    """``RND4K Q1T1 by at most 90 %`` of the lines that the round trip has part in limiting."""
    way_lines = [figures for figures in all_lines if figures.limit in _WAY_LIMITS]
    for of_access in line_names.by_access(way_lines).values():
        percents = []
        for figures in of_access:
            access = figures.line.access
            percents += [faster_network.way_percent(quick, access, rate) for rate in summary.line_rates(figures.line)]
        most_percent = max((percent for percent in percents if percent is not None), default=None)
        if most_percent is not None:
            yield f"{line_names.names_of(of_access, all_lines)}{_by_text(most_percent)}"


def _by_text(percent: float) -> str:
    """`` by at most 90 %``; without a bound where there is none that tells anything."""
    if percent < faster_network.HARDLY_PERCENT:
        return f" by {faster_network.HARDLY_TEXT}"
    return f" by at most {wording.percent(percent)}" if percent <= faster_network.MOST_TOLD_PERCENT else ""
