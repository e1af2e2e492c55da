"""Operations on one connected share: open, close, remove, and list a folder.

A compound is several requests in one message; in it, the requests after the first are about the file that it opened
(``wire.SAME_FILE``).
"""

import struct
from codecs import utf_16_le_decode
from collections.abc import Container, Sequence
from functools import lru_cache

from app.base.errors import AccessDeniedError, NotAFileError, ProtocolError
from app.clients.base import LISTING_TIMEOUTS, DirectoryEntry, Listing
from app.clients.smb import wire
from app.clients.smb.channel import Channel


class Share:
    """A connected tree; errors name ``channel.where``."""

    def __init__(self, channel: Channel, tree_id: int, *, single_requests: bool = False) -> None:
        """With ``single_requests`` nothing is asked for in a compound."""
        self.channel = channel
        self.tree_id = tree_id
        self.single_requests = single_requests

    @property
    def sealed(self) -> bool:
        """Whether its requests and answers are encrypted."""
        return self.channel.seal_all or self.tree_id in self.channel.sealed_trees

    @property
    def is_printer(self) -> bool:
        """What is written to it is printed, and is no file there afterwards."""
        return self.tree_id in self.channel.printer_trees

    def ask(self, request: wire.Request) -> wire.Response:
        return self.require_success(self.channel.ask(wire.frame(*request, self.tree_id)))

    def require_success(self, response: wire.Response, allowed: Container[int] = ()) -> wire.Response:
        """The response, once its status is found to be success or in ``allowed``. Raises the error for any other."""
        if response.status != wire.SUCCESS and response.status not in allowed:
            raise self.channel.refusal(response.status)
        return response

    def cut_off(self) -> Exception:
        """The error for an answer that is shorter than it says."""
        return self.channel.fail(ProtocolError, "the server's answer is cut off; see its log")

    def open(
        self, path: str, access: int, disposition: int = wire.DISPOSITION_OPEN, options: int = wire.OPTION_SEQUENTIAL
    ) -> wire.OpenedFile:
        response = self.channel.ask(wire.frame(*opening(path, access, disposition, options), self.tree_id))

        is_new = disposition == wire.DISPOSITION_CREATE
        if is_new and response.status == wire.OBJECT_NAME_NOT_FOUND:
            # Of a new file it is not missing: its folder would be a path that is not found.
            raise AccessDeniedError(
                f"{self.channel.where}: the server refuses a new file of this name; veto files may hide names like it "
                "there"
            )
        if is_new and response.status == wire.STATUSES["STATUS_SHARING_VIOLATION"]:
            # Nobody can have it open: its name is ours, and it is not there yet.
            raise AccessDeniedError(
                f"{self.channel.where}: the server refuses a new file as if it were in use; kernel share modes on a "
                "file system without them, or a module of vfs objects, may do that there: its log tells which"
            )

        file = wire.parse_created(self.require_success(response).message)
        if file is None:
            raise self.cut_off()
        return file

    def open_file(
        self, path: str, access: int, disposition: int = wire.DISPOSITION_OPEN, options: int = wire.OPTION_SEQUENTIAL
    ) -> wire.OpenedFile:
        file = self.open(path, access, disposition, options)
        if file.is_folder:
            self.close(file)
            raise NotAFileError(f"{self.channel.where}: that is a folder, not a file; name a file in it")
        return file

    def close(self, file: wire.OpenedFile) -> int | None:
        """The size of the file, as the server says it; None where it does not."""
        return wire.closed_bytes(self.ask(wire.close(file.file_id, with_size=True)).message)

    def together(
        self,
        path: str,
        access: int,
        *requests: wire.Request,
        disposition: int = wire.DISPOSITION_OPEN,
        options: int = 0,
        allowed: Container[int] = frozenset(),
    ) -> list[wire.Answer]:
        """Open a file, send requests about ``SAME_FILE``, and close it: in one compound, or one by one.

        Returns all answers, the first that of the open; they are valid until the next request. Raises the first error
        whose status is not in ``allowed``.
        """
        channel = self.channel
        compound = (opening(path, access, disposition, options), *requests, _CLOSE)
        if channel.credits < len(compound):
            channel.ask(wire.frame(*wire.ECHO))  # its answer may grant more
        if self.single_requests or channel.credits < len(compound):
            answers = self._one_by_one(compound)
        else:
            answers = self._at_once(compound)

        failed_status = next((status for status, _message in answers if status not in _SOUND), None)
        # Those after the first that failed are not looked at: they failed because of it.
        if failed_status is not None and failed_status not in allowed:
            raise channel.refusal(failed_status)
        return answers

    def _at_once(self, requests: Sequence[wire.Request]) -> list[wire.Answer]:
        """The answers to all, asked in one compound; the file is closed whatever failed."""
        answers = self.channel.ask_at_once(self.tree_id, requests)
        is_opened = answers[0][0] == wire.SUCCESS
        is_closed = answers[-1][0] == wire.SUCCESS
        if is_closed or not is_opened:
            return answers

        # Some servers do not even close after a failed request. The answers are copied before the next one overwrites
        # them.
        file = wire.parse_created(answers[0][1])
        answers = [(status, memoryview(bytes(message))) for status, message in answers]
        if file is not None:
            self.channel.ask_at_once(self.tree_id, (wire.close(file.file_id),))
        return answers

    def _one_by_one(self, requests: Sequence[wire.Request]) -> list[wire.Answer]:
        """The answers to requests of which the first opens the file of the others; just its own where it cannot."""
        answers: list[wire.Answer] = []
        file_id = wire.SAME_FILE
        for command, body in requests:
            request = command, body.replace(wire.SAME_FILE, file_id, 1)
            status, message = self.channel.ask_at_once(self.tree_id, (request,))[0]
            answers.append((status, memoryview(bytes(message))))
            if len(answers) > 1:
                continue

            if status != wire.SUCCESS:
                break
            file = wire.parse_created(message)
            if file is None:
                raise self.cut_off()
            file_id = file.file_id
        return answers

    def remove(self, path: str) -> None:
        """A file that is already gone is no error."""
        mark = wire.set_info(wire.SAME_FILE, wire.DISPOSITION_INFORMATION, b"\1")
        self.together(path, wire.ACCESS_DELETE, mark, options=wire.OPTION_NOT_A_FOLDER, allowed=wire.GONE)


_CLOSE = wire.close(wire.SAME_FILE)
_SOUND = frozenset({wire.SUCCESS, wire.END_OF_FILE})
"""Statuses of requests that did what they can: a read beyond the end is none that failed."""


@lru_cache(4096)
def opening(path: str, access: int, disposition: int, options: int) -> wire.Request:
    """The request that opens a file; kept, since the users of a load open the same ones again and again."""
    return wire.create(wire.wire_name(path).encode("utf-16-le"), access, disposition, options, wire.ATTRIBUTE_NORMAL)


ALL_NAMES = "*".encode("utf-16-le")
_ENTRY = struct.Struct("<I4x8x8xq8xQ8xII")
"""FileDirectoryInformation: next, last write, size, attributes, length of the name (MS-FSCC 2.4.10)."""
_TICKS_PER_SECOND = 10_000_000
_SECONDS_FROM_1601_TO_1970 = 11_644_473_600
_IS_WHOLE = True
"""Half a character at the end of a name is an error."""


def list_folder(share: Share, path: str) -> list[DirectoryEntry]:
    """Without ``.`` and ``..``, in the server's order. Raises NoSuchFileError."""
    channel = share.channel
    folder = share.open(path, wire.ACCESS_LIST, options=wire.OPTION_A_FOLDER)
    find = wire.find(folder.file_id, ALL_NAMES, most_bytes=channel.most_answer_bytes)
    query = wire.frame(*find, share.tree_id)
    listing = Listing(channel.where)

    with channel.stall.stage(LISTING_TIMEOUTS * channel.stall.seconds):
        message_id = channel.send(query)
        while True:
            response = share.require_success(channel.receive_for(message_id), {wire.NO_MORE_FILES, wire.NO_SUCH_FILE})
            if response.status != wire.SUCCESS:
                break

            message_id = channel.send(query)  # the server reads on while this side parses
            try:
                listing.add_all(entries(response.message), len(response.message))
            except (struct.error, UnicodeDecodeError) as error:
                raise channel.fail(ProtocolError, "the server's list of files makes no sense; see its log") from error
            channel.stall.note_moved(listing.received_bytes)
    share.close(folder)
    return listing.entries


def entries(message: memoryview) -> list[DirectoryEntry]:
    """Entries of a QUERY_DIRECTORY response. Raises struct.error if they overlap or are truncated.

    This is most of a listing's processor time: it does nothing but what each name needs.
    """
    start, length = struct.unpack_from("<HI", message, wire.HEADER_BYTES + 2)
    data = bytes(message[start : start + length])
    parsed: list[DirectoryEntry] = []
    at = 0
    following = 1
    while following:
        following, written_ticks, size_bytes, attributes, name_bytes = _ENTRY.unpack_from(data, at)
        name_at = at + _ENTRY.size
        end = name_at + name_bytes
        if end > len(data) or 0 < following < end - at:
            raise struct.error("an entry that overlaps")

        # bytes.decode() would look the codec up for each name, and call it through Python.
        name, _decoded_bytes = utf_16_le_decode(data[name_at:end], "surrogatepass", _IS_WHOLE)
        is_folder = attributes & wire.ATTRIBUTE_FOLDER != 0
        parsed.append(DirectoryEntry(name, is_folder, size_bytes, _unix_seconds(written_ticks)))
        at += following
    return parsed


def _unix_seconds(ticks: int) -> int | None:
    """From tenths of microseconds since 1601; None for none (MS-DTYP 2.3.3)."""
    if ticks <= 0:
        return None
    return ticks // _TICKS_PER_SECOND - _SECONDS_FROM_1601_TO_1970
