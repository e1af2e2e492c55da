"""Reads and writes blocks of an open file over SMB, with a number of requests under way at once.

Each request is timed by itself, from the moment when it is handed to the kernel until its answer was received whole.
"""

import time

from app.base.errors import ProtocolError
from app.clients.base import Content, Meter
from app.clients.random_requests import BlockWorkload
from app.clients.smb import wire
from app.clients.smb.channel import Channel
from app.clients.smb.transfer import OVERHEAD_BYTES, charge, status_error
from storage.request_times import RequestTimesBuilder, RunRequests


class RandomFile:
    """The requests of one run, about one open file; used once, for one call of ``run``.

    They end when the time is over, or with the last block of a workload that has one.
    """

    def __init__(
        self, channel: Channel, tree_id: int, file: wire.OpenedFile, workload: BlockWorkload, content: Content
    ) -> None:
        """``content`` is what is written, at a place of the file its own bytes there.

        Raises NotAFileError for a file that is smaller than a block.
        """
        workload.check_size(file.size_bytes, channel.where)
        self.moved_bytes = 0
        self._channel = channel
        self._workload = workload
        self._content = content
        self._places = workload.places(file.size_bytes)
        self._block_bytes = workload.block_bytes
        self._charge = charge(self._block_bytes) if channel.multi_credit else 1
        # Each is a message that is aimed at other bytes for every request.
        self._read_message = wire.frame(*wire.read(file.file_id, 0, 0), tree_id)
        self._write_message = wire.frame(*wire.write(file.file_id, 0, 0), tree_id)

        self._reads = RequestTimesBuilder()
        self._writes = RequestTimesBuilder()
        self._under_way: dict[int, tuple[int, bool]] = {}
        """When each was sent, in nanoseconds, and whether it reads; by message id."""

    def run(self, meter: Meter) -> float:
        """Seconds from the first request until the last answer.

        Raises ProtocolError for an answer that moved another number of bytes, and what a server refuses.
        """
        channel = self._channel
        channel.reserve(self._block_bytes + OVERHEAD_BYTES)

        def advance_at_tick(_frame_bytes: int) -> None:
            meter.advance(self.moved_bytes)

        channel.watch = advance_at_tick
        channel.stall.start()
        started_at = meter.start()
        end_at = time.perf_counter_ns() + round(self._workload.seconds * 1e9)

        while True:
            if time.perf_counter_ns() < end_at:
                self._send_requests()
            if not self._under_way:
                break
            self._take_answer()
            meter.advance(self.moved_bytes)
        return meter.clock() - started_at

    @property
    def requests(self) -> RunRequests:
        """How long those took that were answered."""
        return RunRequests(reads=self._reads.built(), writes=self._writes.built())

    def _send_requests(self) -> None:
        """As many as may be under way, and as the credits allow. Raises ProtocolError where these allow none."""
        channel = self._channel
        while len(self._under_way) < self._workload.in_flight and channel.credits >= self._charge:
            place = next(self._places, None)
            if place is None:
                return
            offset, reads = place
            message = self._read_message if reads else self._write_message
            payload = b"" if reads else self._content.block(offset, self._block_bytes)
            wire.aim(message, offset, self._block_bytes)

            sent_at = time.perf_counter_ns()
            message_id = channel.send(message, payload, charge=self._charge)
            self._under_way[message_id] = sent_at, reads

        if not self._under_way:
            raise channel.fail(ProtocolError, "the server grants no credits, so nothing may be asked; see its log")

    def _take_answer(self) -> None:
        channel = self._channel
        response = channel.receive()
        answered_at = time.perf_counter_ns()
        channel.stall.start()  # any answer is progress, however small the blocks are

        sent_at, reads = self._under_way.pop(response.message_id)
        if response.status != wire.SUCCESS:
            raise status_error(channel, response.status)

        moved_bytes = self._moved_bytes_in(response, reads=reads)
        if moved_bytes != self._block_bytes:
            raise ProtocolError(
                f"{channel.where}: the server moved {moved_bytes} bytes where {self._block_bytes} were asked for: the"
                " file became shorter, or something in between holds it up; look there"
            )
        self.moved_bytes += moved_bytes
        times = self._reads if reads else self._writes
        times.add(answered_at - sent_at)

    @staticmethod
    def _moved_bytes_in(response: wire.Response, *, reads: bool) -> int:
        if not reads:
            return wire.written_bytes(response.message)
        data = wire.read_data(response.message)
        return 0 if data is None else len(data)
