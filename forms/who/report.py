"""A look at who uses a server, on paper and as JSON."""

from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from functools import partial
from typing import Any

from forms import report, wording
from forms.layout import Tone, Toned
from forms.who import summary as who_figures
from forms.who.summary import Amount, Resource, SessionShare, WhoSummary
from storage.records import with_zone
from storage.who import ServerSession, Who

SCHEMA = "sharebench/who/1"

_LIMITS = {
    Resource.PROCESSORS: "The processors are the limit",
    Resource.ONE_PROCESSOR: "One processor is the limit: the one of the busiest session",
    Resource.NETWORK: "The network is the limit",
    Resource.DISK: "The disk is the limit",
}
_AMOUNTS = {
    Amount.BYTES: "bytes moved",
    Amount.CPU: "processor time of all sessions",
    Amount.DISK_BYTES: "bytes read from disks and written to them",
}


def who_answer(who: Who) -> Toned:
    """What is the limit, if anything is, and which session has most of it."""
    if not who.sessions:
        return Toned("Nobody is connected.")

    summary = who_figures.who_summary(who)
    limit = _limit_sentence(summary)
    busiest = summary.busiest
    if busiest is None:
        most = f"{wording.count(len(who.sessions), 'session')}, none of them active."
    elif busiest.share_percent is None:
        most = f"{wording.count(len(who.sessions), 'session')}, none of which uses it."
    else:
        share = wording.percent(busiest.share_percent)
        most = f"{session_name(busiest.session)} has {share} of the {_AMOUNTS[summary.amount]}."
    if not limit:
        return Toned(f"{most} Nothing on the server is at its limit.")
    return Toned(f"{limit} {most}", Tone.CAUTION)


def _limit_sentence(summary: WhoSummary) -> str:
    """Empty where nothing is at its limit."""
    if summary.limit is None:
        return ""

    used_share = wording.percent(summary.used_percent[summary.limit])
    if summary.is_limited_by_others and summary.limit is Resource.DISK:
        return (
            f"{_LIMITS[summary.limit]} ({used_share} busy), with other work: the sessions hardly read or write there."
        )
    if summary.is_limited_by_others:
        sessions_share = wording.percent(summary.sessions_cpu_percent)
        part_of_sessions = f"the sessions take {sessions_share} of their time"
        return f"{_LIMITS[summary.limit]} ({used_share} busy), with other work: {part_of_sessions}."
    return f"{_LIMITS[summary.limit]} ({used_share} busy)."


def session_name(session: ServerSession) -> str:
    """``alice on 10.0.0.5``."""
    return wording.plain(f"{users_text(session)} on {client_text(session)}")


def users_text(session: ServerSession) -> str:
    return ", ".join(session.users) or "nobody"


def client_text(session: ServerSession) -> str:
    return session.machine or session.client


def who_document(who: Who) -> dict[str, Any]:
    summary = who_figures.who_summary(who)
    content = asdict(who)
    # They lead to the server.
    del content["server_ssh"], content["smb_conf"]

    return {
        "schema": SCHEMA,
        **content,
        "limit": summary.limit,
        "used_percent": {resource.value: percent for resource, percent in summary.used_percent.items()},
        "bytes_per_second": summary.bytes_per_second,
        "ordered_by": summary.amount,
        "shares": [
            {
                "process": share.session.process,
                "share_percent": share.share_percent,
                "bytes_percent": share.bytes_percent,
            }
            for share in summary.shares
        ],
    }


def who_report(who: Who) -> report.Report:
    summary = who_figures.who_summary(who)
    answer = who_answer(who)
    rate = summary.bytes_per_second

    return report.Report(
        form="who",
        title=f"Who uses {wording.place(who.target)}",
        name="Who",
        fields=report.fields_of(
            report.answer_field(answer.text, answer.tone),
            ("Server", wording.place(who.target)),
            report.measured_field(f"{with_zone(who.created_at)}, for {wording.seconds(who.seconds)}"),
            ("Processors", f"{wording.percent(who.machine.cpu_percent)} of {who.machine.processors} busy"),
            ("Network", _network_text(who)),
            ("Disk", _disk_text(who)),
            ("Moved", "" if rate is None else wording.byte_rate(rate)),
            ("Requests", "" if who.requests is None else f"{who.requests / who.seconds:,.0f} a second"),
            ("Ended", f"{wording.count(who.ended, 'connection')} during the look" if who.ended else ""),
            ("Cost", f"the look took {wording.percent(look_percent(who))} of one processor of the server"),
        ),
        tables=tuple(_tables(who, summary)),
        document=partial(who_document, who),
    )


def look_percent(who: Who) -> float:
    """What the look took of one processor of the server."""
    return 100 * who.look_cpu_seconds / who.seconds


def _network_text(who: Who) -> str:
    machine = who.machine
    if machine.card_bits_per_second is None:
        return ""
    used_share = who_figures.network_percent(machine)
    if used_share is None:
        return f"{machine.card}: {wording.link_rate(machine.card_bits_per_second)}, of an unknown link speed"
    return f"{machine.card}: {wording.percent(used_share)} of {wording.link_rate(machine.link_bits_per_second)}"


def _disk_text(who: Who) -> str:
    machine = who.machine
    return "" if machine.disk_percent is None else f"{machine.disk}: {wording.percent(machine.disk_percent)} busy"


def _tables(who: Who, summary: WhoSummary) -> Iterator[report.Table]:
    if not who.sessions:
        return

    # Most servers do not count requests.
    has_requests = any(session.requests is not None for session in who.sessions)
    columns = [
        report.Column(heading="User", kind=report.ReportKind.TEXT),
        report.Column(heading="Client", kind=report.ReportKind.TEXT),
        report.Column(heading="Bytes %", kind=report.ReportKind.DECIMAL),
        report.Column(heading="CPU %", kind=report.ReportKind.DECIMAL),
        report.Column(heading="Read MB/s", kind=report.ReportKind.DECIMAL),
        report.Column(heading="Written MB/s", kind=report.ReportKind.DECIMAL),
        *([report.Column(heading="Requests/s", kind=report.ReportKind.DECIMAL)] if has_requests else []),
        report.Column(heading="Open files"),
        report.Column(heading="Locks"),
        report.Column(heading="Connected", kind=report.ReportKind.TEXT),
        report.Column(heading="Process", kind=report.ReportKind.TEXT, is_detail=True),
        report.Column(heading="Dialect", kind=report.ReportKind.TEXT, is_detail=True),
    ]
    yield report.Table(
        columns=tuple(columns),
        rows=tuple(_row(share, who, has_requests=has_requests) for share in summary.shares),
        caption=f"Sessions, by their share of the {_AMOUNTS[summary.amount]}; CPU in percent of one processor",
    )


def _row(share: SessionShare, who: Who, *, has_requests: bool) -> report.Row:
    session = share.session
    requests = None if session.requests is None else session.requests / who.seconds

    return report.row_of(
        wording.plain(users_text(session)),
        wording.plain(client_text(session)),
        share.bytes_percent,
        session.cpu_percent,
        _megabytes_a_second(session.sent_bytes, who.seconds),
        _megabytes_a_second(session.received_bytes, who.seconds),
        *([requests] if has_requests else []),
        session.open_files,
        session.locks,
        wording.duration(_connected_seconds(session, who)),
        str(session.process),
        session.dialect,
    )


def _megabytes_a_second(size_bytes: int | None, seconds: float) -> float | None:
    return None if size_bytes is None else wording.megabytes(size_bytes / seconds)


def _connected_seconds(session: ServerSession, who: Who) -> float:
    """How long it had been connected at the end of the look."""
    connected_at = datetime.fromisoformat(session.connected_at).timestamp()
    return max(0.0, who.moment + who.seconds - connected_at)
