"""The process that measures our own replay limit, against a server that does almost nothing.

Its plan and result have the form of :mod:`app.isolation.replay_child`.
"""

import contextlib
import sys
from collections import Counter
from collections.abc import Iterator

from app.clients.smb.errors import NO_MORE_FILES, SUCCESS
from app.clients.smb.null_server import NullServer, null_channel
from app.clients.smb.share import Share
from app.clients.smb.wire import Opcode
from app.errors import MeasurementError
from app.isolation.replay_child import ReplayPlan, ReplayResult, answer_plan, replay_by_all

_LONGEST_ANSWER = memoryview(bytes(88))
_ANSWER_BYTES: dict[int, int] = {Opcode.CREATE: 88, Opcode.CLOSE: 60, Opcode.QUERY_INFO: 8}
_SHORT_BYTES = 4


class NullShare(NullServer):
    """A share that has every file and lists none."""

    def answer(self, request: memoryview, command: int) -> tuple[int, bytes, memoryview]:
        """Success without content; folders are empty."""
        if command in {Opcode.READ, Opcode.WRITE}:
            return super().answer(request, command)
        status = NO_MORE_FILES if command == Opcode.QUERY_DIRECTORY else SUCCESS
        return status, bytes(_LONGEST_ANSWER[: _ANSWER_BYTES.get(command, _SHORT_BYTES)]), _LONGEST_ANSWER[:0]


@contextlib.contextmanager
def _connect(plan: ReplayPlan) -> Iterator[Share]:
    if plan.client is None:
        raise MeasurementError("nothing was negotiated yet: measure the server first")
    with null_channel(plan.client, NullShare) as channel:
        yield Share(channel, 1)


def _replay(plan: ReplayPlan) -> ReplayResult:
    if plan.client is None:
        raise MeasurementError("nothing was negotiated yet: measure the server first")
    return replay_by_all(plan, _connect, plan.client, Counter())


if __name__ == "__main__":
    sys.exit(answer_plan(_replay))
