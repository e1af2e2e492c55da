"""The session that does most on a server, as facts of a measurement that found the server busy."""

from forms import wording
from forms.who.summary import WhoSummary
from storage.records import BUSIEST_USER, Facts, FactValue

_CLIENT = "server.sessions.busiest_client"
_CPU = "server.sessions.busiest_cpu_percent"
"""Of one processor."""
_RATE = "server.sessions.busiest_bytes_per_second"


def busiest_facts(summary: WhoSummary, seconds: float) -> dict[str, FactValue]:
    """Facts of the busiest session of a look of that length; empty where none did anything."""
    if summary.busiest is None:
        return {}

    session = summary.busiest.session
    facts: dict[str, FactValue] = {
        _CLIENT: session.machine or session.client,
        _CPU: round(session.cpu_percent, 1),
    }
    if session.users:
        facts[BUSIEST_USER] = session.users[0]
    if session.sent_bytes is not None:
        facts[_RATE] = round(session.moved_bytes / seconds)
    return facts


def busiest_text(facts: Facts) -> str:
    """``alice on 10.0.0.5 (62 % of a processor, 11.8 MB/s)``; empty where the facts name none."""
    if _CLIENT not in facts:
        return ""

    user = facts.get(BUSIEST_USER, "nobody")
    cpu_percent = facts.get(_CPU)
    rate = facts.get(_RATE)
    work = []
    if isinstance(cpu_percent, int | float):
        work.append(f"{wording.percent(cpu_percent)} of a processor")
    if isinstance(rate, int | float):
        work.append(wording.byte_rate(rate))
    return wording.plain(f"{user} on {facts[_CLIENT]} ({', '.join(work)})")
