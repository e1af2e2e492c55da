"""One share on a channel: files opened, closed and removed by single requests of our own."""

from app.clients.smb import wire
from app.clients.smb.channel import Channel
from app.clients.smb.errors import GONE, SUCCESS, status_error
from app.clients.smb.wire import OpenedFile
from app.errors import NotAFileError, ProtocolError


class Share:
    """A connected tree; errors name what ``channel.where`` says."""

    def __init__(self, channel: Channel, tree_id: int) -> None:
        self.channel = channel
        self.tree_id = tree_id

    @property
    def sealed(self) -> bool:
        """Whether what is asked of this share travels encrypted."""
        return self.channel.seal_all or self.tree_id in self.channel.sealed_trees

    def open(self, path: str, access: int, disposition: int = wire.DISPOSITION_OPEN) -> OpenedFile:
        """Open or make a file. Raises NotAFileError for a folder, and what the server's status means."""
        request = wire.create_frame(
            self.tree_id, wire_name(path), access=access, disposition=disposition, options=wire.OPTION_SEQUENTIAL
        )
        response = self.channel.ask(request)
        if response.status != SUCCESS:
            raise status_error(response.status, self.channel.where)
        file = wire.parse_created(response.message)
        if file is None:
            raise self.channel.fail(ProtocolError(f"{self.channel.where}: the server's answer is cut off; see its log"))
        if file.is_folder:
            self.close(file)
            raise NotAFileError(f"{self.channel.where}: that is a folder, not a file; name a file in it")
        return file

    def close(self, file: OpenedFile) -> int | None:
        """Close a file; its size at the end, where the server says it."""
        response = self.channel.ask(wire.close_frame(self.tree_id, file.file_id))
        if response.status != SUCCESS:
            raise status_error(response.status, self.channel.where)
        return wire.closed_bytes(response.message)

    def remove(self, path: str) -> None:
        """Remove a file; one that is gone already is no error."""
        request = wire.create_frame(
            self.tree_id,
            wire_name(path),
            access=wire.ACCESS_DELETE,
            disposition=wire.DISPOSITION_OPEN,
            options=wire.OPTION_NOT_A_FOLDER | wire.OPTION_DELETE_ON_CLOSE,
        )
        response = self.channel.ask(request)
        if response.status in GONE:
            return
        file = wire.parse_created(response.message)
        if response.status != SUCCESS or file is None:
            raise status_error(response.status, self.channel.where)
        self.close(file)


def wire_name(path: str) -> str:
    """A path as the protocol wants it: relative, with backslashes."""
    return path.strip("/").replace("/", "\\")
