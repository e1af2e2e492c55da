"""The charts of an isolation."""

from forms import wording
from forms.isolation.summary import IsolationSummary
from forms.isolation.tables import NAMES, PART_NAMES, SHOWN_LAYERS
from forms.isolation.verdict import HELD_SHARE, Cause, IsolationVerdict
from forms.report import Bar, Chart


def server_chart(summary: IsolationSummary) -> Chart:
    """The server's rate over the numbers of clients, each in a frame as high as the slower of disk and network."""
    bars = tuple(
        Bar(name=str(point.clients), value=wording.megabytes(point.server), frame=wording.megabytes(point.least))
        for point in summary.points
    )
    title = "The server, in a frame as high as the slower of disk and network, over clients"
    return Chart(title=title, unit="MB/s", bars=bars)


def layers_chart(summary: IsolationSummary) -> Chart:
    """What each layer carries with the number of clients that is judged."""
    clients = summary.verdict.evidence.clients
    rates = next((point.rates for point in summary.points if point.clients == clients), {})
    bars = []
    for layer in SHOWN_LAYERS:
        if rates.get(layer):
            name = NAMES.get(layer, layer.value).lower()
            bars.append(Bar(name=name, value=wording.megabytes(rates[layer])))
    title = f"What each carries, {wording.count(clients, 'client')}"
    return Chart(title=title, unit="MB/s", bars=tuple(bars), in_text=True)


def waterfall_chart(summary: IsolationSummary) -> Chart | None:
    """Where one operation's time goes, each part beginning where the one before ends; None where nobody knows."""
    waterfall = summary.waterfall
    if waterfall is None:
        return None

    bars = []
    start = 0.0
    for name, microseconds in waterfall.parts().items():
        if microseconds > 0:  # less than nothing is not explained where parts overlap, which the table says
            bars.append(Bar(name=PART_NAMES.get(name, name), value=microseconds, start=start))
        start += microseconds

    overlap = -waterfall.parts().get("not explained", 0.0)
    overlap_text = f"; the parts overlap by {overlap:.0f} µs" if overlap >= 1 else ""
    title = f"Where one operation's time goes{_limit_text(summary.verdict)}{overlap_text}"
    return Chart(title=title, unit="µs", bars=tuple(bars), in_text=True)


def _limit_text(verdict: IsolationVerdict) -> str:
    """From which share on the client is the limit; empty where the verdict does not follow from that share."""
    held_share = verdict.evidence.held_share
    if held_share is None:
        return ""

    client_takes_most = held_share >= HELD_SHARE
    is_client_the_limit = verdict.cause is Cause.CLIENT
    if client_takes_most != is_client_the_limit:
        return ""
    return f" (a client that takes {100 * HELD_SHARE:.0f} % of it is the limit)"
