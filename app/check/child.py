"""The process that checks a target for another machine: see `app.check.elsewhere`. The end of its stdin ends it."""

import os
import signal
import sys
import threading

from app.base import messages, this_process
from app.base.errors import CancelledError, SharebenchError
from app.check.elsewhere import CheckEnded, CheckOrder
from app.check.measuring_machine import check_target
from app.recording.process import Failed


def main() -> int:
    this_process.keep_memory_to_ourselves()
    out = messages.own_stdout()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    order: CheckOrder = messages.message_of(sys.stdin.readline(), [CheckOrder])
    threading.Thread(target=_end_with_stdin, daemon=True).start()

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    checks = check_target(order.target, order.secrets, order.spec, order.environment, None)
    try:
        while True:
            messages.send(out, next(checks))
    except StopIteration as ended:
        messages.send(out, CheckEnded(client=ended.value))
    except SharebenchError as error:
        messages.send(out, Failed.of(error))
    except (KeyboardInterrupt, BrokenPipeError):
        return CancelledError.exit_code
    return 0


def _end_with_stdin() -> None:
    for _ in sys.stdin:
        pass
    os.kill(os.getpid(), signal.SIGTERM)  # which interrupts a check that waits for a server


if __name__ == "__main__":
    sys.exit(main())
