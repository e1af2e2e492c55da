"""The process that looks at the machine where a series is measured for another: see `app.series.observer`."""

import signal
import sys

from app.base import messages
from app.series import observer
from app.server.facts import client_side
from app.server.network_counters import LinkCounters
from app.server.quiet_watch import QuietWatch


def main() -> int:
    answers = messages.own_stdout()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    order: observer.ObservingOrder = messages.message_of(sys.stdin.readline(), [observer.ObservingOrder])
    side = client_side(order.target)
    messages.send(answers, side)

    with QuietWatch(order.target, order.command, side.link) as watch:
        for line in sys.stdin:
            message = messages.message_of(line, [*observer.REQUESTS, *observer.OWN_WORK])
            if isinstance(message, observer.OWN_WORK):
                observer.note_own_work(watch, message)
            else:
                messages.send(answers, _answer(watch, message))
    return 0


def _answer(watch: QuietWatch, request: object) -> object:
    match request:
        case observer.LookForQuiet(seconds=seconds, server=server):
            watch.server = server
            return observer.QuietSeen(quiet=watch.look(seconds))
        case observer.JudgeQuiet(server=server):
            watch.server = server
            return observer.QuietSeen(quiet=watch.verdict())
        case observer.CountLink(interface=interface):
            return LinkCounters.snapshot(interface)
    raise AssertionError(request)


if __name__ == "__main__":
    sys.exit(main())
