"""The client for ``smb://``: transfers whole files with several requests under way at once, and times them."""

import builtins
import hashlib
from dataclasses import replace
from uuid import UUID

from app import __version__
from app.base import errors
from app.clients import base, tcp_info
from app.clients.random_requests import BlockWorkload
from app.clients.smb import protection, transfer, wire
from app.clients.smb.connection import ChannelConnection
from app.clients.smb.impacket_errors import mapped
from app.clients.smb.link import SMBLink
from app.clients.smb.open_link import OpenLink
from app.clients.smb.random_file import RandomFile
from storage import records
from storage.request_times import RunRequests

_MOST_CREDITS = 1 << 16
"""More than any server grants: the window is then bounded by its sizes alone."""


class SMBClient(SMBLink):
    """Whole files over one connection, SMB 2.0.2 to 3.1.1; signs and encrypts only if required or requested.

    An `OpenLink` is a session logged in over a channel (the socket, with its credits and time limits), with the share
    connected. ``channel.stage()`` limits how long the answers inside it may take together.

    ``_linked`` (the connection, made where there is none) and ``_using`` (the share, for requests about a path) are of
    `SMBLink`, which calls ``_prepare`` whenever it has made a connection.
    """

    def facts(self) -> records.ClientFacts:
        link = self._linked()
        negotiated = link.negotiated
        window = self._window(link, negotiated.max_read_bytes)

        is_sealed = link.share.sealed if link.share else link.channel.seal_all
        signing = None if is_sealed else link.connection.signing
        encryption = "none"
        if is_sealed and negotiated.cipher is not None:
            encryption = protection.CIPHER_NAMES[negotiated.cipher]
        return records.ClientFacts(
            name="sharebench",
            version=__version__,
            dialect=wire.DIALECTS[negotiated.dialect],
            signing="none" if signing is None else protection.SIGNING_NAMES[signing],
            encryption=encryption,
            block_bytes=window.block_bytes,
            in_flight=window.in_flight,
        )

    def shares(self) -> builtins.list[str]:
        link = self._linked()
        with link.channel.stage():
            return link.session.share_names()

    def size(self, path: str) -> int:
        # Ours: smbclient-ng's path_exists, path_isfile and get_entry take every error for a file that is not there,
        # a lost connection as well.
        with self._using(path) as share:
            file = share.open_file(path, wire.ACCESS_ATTRIBUTES)
            share.close(file)
            return file.size_bytes

    def get(self, path: str, meter: base.Meter, into: base.Sink | None = None) -> base.Transfer:
        with self._using(path) as share:
            link = self._linked()
            window = self._window(link, link.negotiated.max_read_bytes)

            def move(file: wire.OpenedFile) -> float:
                if not file.size_bytes:
                    raise errors.NotAFileError(
                        f"{share.channel.where}: the file is empty; name one with something in it"
                    )
                return transfer.read_file(share.channel, share.tree_id, file, window, meter, into)

            return transfer.timed_transfer(share, lambda: share.open_file(path, wire.ACCESS_READ), move)

    def put(self, path: str, content: base.Content, meter: base.Meter) -> base.Transfer:
        with self._using(path) as share:
            link = self._linked()
            window = self._window(link, link.negotiated.max_write_bytes)

            def move(file: wire.OpenedFile) -> float:
                seconds = transfer.write_file(share.channel, share.tree_id, file, window, meter, content)
                if not self._settings.flush:
                    return seconds
                return seconds + transfer.flush_file(share.channel, share.tree_id, file, meter)

            return transfer.timed_transfer(
                share,
                lambda: share.open_file(path, wire.ACCESS_WRITE, wire.DISPOSITION_CREATE),
                move,
                content.size_bytes,
            )

    def request_blocks(
        self, path: str, workload: BlockWorkload, content: base.Content, meter: base.Meter
    ) -> base.Transfer:
        with self._using(path) as share:
            self._check_window(workload)
            requests = RunRequests()
            moved_bytes = 0

            def move(file: wire.OpenedFile) -> float:
                nonlocal requests, moved_bytes
                random_file = RandomFile(share.channel, share.tree_id, file, workload, content)
                seconds = random_file.run(meter)
                requests = random_file.requests
                moved_bytes = random_file.moved_bytes
                if not (self._settings.flush and workload.writes):
                    return seconds
                return seconds + transfer.flush_file(share.channel, share.tree_id, file, meter)

            access = wire.ACCESS_READ_WRITE if workload.writes else wire.ACCESS_READ
            disposition = wire.DISPOSITION_CREATE if workload.creates else wire.DISPOSITION_OPEN
            options = wire.OPTION_RANDOM if workload.is_random else wire.OPTION_SEQUENTIAL
            timed = transfer.timed_transfer(share, lambda: share.open_file(path, access, disposition, options), move)
            return replace(timed, size_bytes=moved_bytes, requests=requests)

    def _check_window(self, workload: BlockWorkload) -> None:
        """Raises UsageError where the server takes no requests of that size."""
        link = self._linked()
        negotiated = link.negotiated
        limits = []
        if workload.reads:
            limits.append(negotiated.max_read_bytes)
        if workload.writes:
            limits.append(negotiated.max_write_bytes)
        most_bytes = min(limits)
        largest_bytes = self._window(link, most_bytes).block_bytes
        if workload.block_bytes > largest_bytes:
            raise errors.UsageError(
                f"{link.channel.where}: this server takes requests of at most {largest_bytes} bytes: ask for smaller"
                " blocks",
                options="--block SIZE",
            )

    def digest(self, path: str) -> str:
        sha = hashlib.sha256()
        size_bytes = self.size(path)
        read_bytes = 0

        def take(block: bytes) -> None:
            nonlocal read_bytes
            read_bytes += len(block)
            if read_bytes > size_bytes:
                raise errors.CorruptedError(
                    f"{wire.place(self.target, path)}: the file became longer; measure a file at rest"
                )
            sha.update(block)

        with self._using(path) as share, mapped(share.channel.where):
            self._linked().session.read_file_in_blocks(self.target.share or "", path, take)
        return sha.hexdigest()

    def facts_of_path(self) -> dict[str, str | int | float]:
        link = self._linked()
        negotiated = link.negotiated
        network = tcp_info.TcpInfo.of_socket(link.channel.sock)
        with link.channel.stage():
            times_of_requests = tcp_info.request_facts(lambda: link.channel.ask(wire.frame(*wire.ECHO)), network)

        return {
            "smb.max_read_bytes": negotiated.max_read_bytes,
            "smb.max_write_bytes": negotiated.max_write_bytes,
            "smb.max_transact_bytes": negotiated.max_transact_bytes,
            "smb.put_block_bytes": self._window(link, negotiated.max_write_bytes).block_bytes,
            "smb.credits": link.credits,
            "smb.capabilities": f"0x{negotiated.capabilities:02X}",
            "smb.requires_signing": "yes" if negotiated.requires_signing else "no",
            "smb.guest": "yes" if link.connection.is_guest else "no",
            "smb.server_guid": str(UUID(bytes_le=negotiated.server_guid)),
            "address.client": link.addresses[0],
            "address.server": link.addresses[1],
            **tcp_info.connection_facts(tcp_info.TcpInfo.of_socket(link.channel.sock)),
            **times_of_requests,
        }

    def _window(self, link: OpenLink, maximum_bytes: int) -> transfer.Window:
        """How large the requests of a transfer are, and how many are under way; ``maximum_bytes`` is the server's."""
        settings = self._settings
        return transfer.choose_window(
            link.negotiated, maximum_bytes, link.credits, settings.block_bytes, settings.in_flight
        )

    def _prepare(self, connection: ChannelConnection) -> None:
        """Ask for credits until the windows can be filled or the server grants no more."""
        negotiated = connection.negotiated
        assert negotiated is not None
        settings = self._settings
        largest_bytes = max(negotiated.max_read_bytes, negotiated.max_write_bytes)
        widest = transfer.choose_window(
            negotiated, largest_bytes, _MOST_CREDITS, settings.block_bytes, settings.in_flight
        )

        channel = connection.channel
        channel.wanted_credits = max(channel.wanted_credits, widest.credits)
        credits_before = 0
        while credits_before < channel.credits < widest.credits:
            credits_before = channel.credits
            channel.ask(wire.frame(*wire.ECHO))
