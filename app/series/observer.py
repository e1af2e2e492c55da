"""Looks at another machine that measures a series, beside its runs: its facts, its path to the server, a quiet time.

A process there does it (`app.series.observer_child`). It is told an ObservingOrder, then events of the measuring
process and requests; it answers the order and each request with one message. The end of its stdin ends it.
"""

import threading
from dataclasses import dataclass
from typing import Annotated, Any

from app.base.child_process import ChildProcess, Elsewhere
from app.base.errors import ChildDiedError
from app.recording import process
from app.server.facts import ClientSide, Environment, collect
from app.server.network_counters import LinkCounters
from app.server.quiet_time import ServerLoad
from app.server.quiet_watch import LOOK_SECONDS, QuietLooks, QuietWatch
from storage import records
from storage.json_reader import JSONNode
from storage.plan import MonitorChoices

_GRACE_SECONDS = 10.0
"""For the process to end, which is in the middle of a look at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservingOrder:
    """The first line; answered by a ClientSide."""

    target: records.Target
    command: records.Command


@dataclass(frozen=True, slots=True, kw_only=True)
class LookForQuiet:
    """Watch the machine for that long; answered by QuietSeen."""

    seconds: float
    server: ServerLoad | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeQuiet:
    """Judge all that was seen so far; answered by QuietSeen."""

    server: ServerLoad | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CountLink:
    """Read the counters of the interface; answered by its LinkCounters."""

    interface: str


def _read_quiet(place: JSONNode) -> records.Quiet:
    return records.quiet_from_json(place) or records.Quiet(verdict=records.QuietVerdict.UNKNOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuietSeen:
    """Whether others were at work there."""

    quiet: Annotated[records.Quiet, _read_quiet]


OWN_WORK = (process.Started, process.RunStarted, process.Progressed, process.RunFinished)
"""The events of the measuring process by which its work is told from that of others."""
REQUESTS = (LookForQuiet, JudgeQuiet, CountLink)


def note_own_work(watch: QuietWatch, event: process.Event) -> None:
    """Tell a watch what the measuring process itself does, so that it is not taken for other activity."""
    match event:
        case process.Started(client=client, path_facts=facts, process_id=process_id):
            if process_id is not None:
                watch.count_as_ours(process_id)
            timestamps = facts.get("tcp.timestamps_used") != "no"
            watch.note_session(block_bytes=client.block_bytes, timestamps=timestamps)
        case process.RunStarted():
            watch.run_started()
        case process.Progressed(seconds=seconds, moved_bytes=moved_bytes):
            watch.moved(seconds, moved_bytes)
        case process.RunFinished(run=run):
            watch.run_finished(run.seconds, run.size_bytes)


class ObserverElsewhere(QuietLooks):
    """The process that looks at another machine; :meth:`close` ends it."""

    def __init__(self, elsewhere: Elsewhere, target: records.Target, command: records.Command) -> None:
        """Raises ChildDiedError where it does not answer; so do all methods that ask it something."""
        self._process = ChildProcess("app.series.observer_child", grace_seconds=_GRACE_SECONDS, elsewhere=elsewhere)
        try:
            self.side: ClientSide = self._ask(ObservingOrder(target=target, command=command), ClientSide)
        except BaseException:
            self.close()
            raise

    def environment(self, target: records.Target, choices: MonitorChoices) -> Environment:
        """What is known before the measurement: of that machine from there, of the server as from here."""
        return collect(
            target,
            ssh=choices.server_ssh,
            smb_conf=choices.smb_conf,
            elsewhere=self.side,
            from_host=choices.from_host,
        )

    def look(self, seconds: float = LOOK_SECONDS, stop: threading.Event | None = None) -> records.Quiet:
        """As of `QuietLooks`; a look that has begun is not broken off by ``stop``."""
        if stop is not None and stop.is_set():
            return self.verdict()
        seen: QuietSeen = self._ask(LookForQuiet(seconds=seconds, server=self.server), QuietSeen)
        return seen.quiet

    def verdict(self) -> records.Quiet:
        seen: QuietSeen = self._ask(JudgeQuiet(server=self.server), QuietSeen)
        return seen.quiet

    def counters(self, interface: str) -> LinkCounters:
        counters: LinkCounters = self._ask(CountLink(interface=interface), LinkCounters)
        return counters

    def take_event(self, event: process.Event) -> None:
        if isinstance(event, OWN_WORK):
            self._process.say(event)

    def _ask(self, request: object, answer: type) -> Any:
        self._process.say(request)
        message = next(self._process.events([answer]), None)
        if message is None:
            raise ChildDiedError(f"the process that looks at the measuring machine {self._process.how_it_ended()}")
        return message

    def close(self) -> None:
        self._process.close()
