"""A logged-in session with its connection and the share that is open on it."""

from typing import NamedTuple

from app.clients.smb import channel as smb_channel
from app.clients.smb import negotiate
from app.clients.smb import session as smb_session
from app.clients.smb import share as smb_share
from app.clients.smb.connection import ChannelConnection


class OpenLink(NamedTuple):
    """A session with its connection, and the share that is open on it."""

    session: smb_session.Session
    channel: smb_channel.Channel
    share: smb_share.Share | None
    """None where the target names none."""
    addresses: tuple[str, str]
    """The client's and the server's."""
    credits: int
    """Which the server had granted when the share was open."""

    @property
    def connection(self) -> ChannelConnection:
        return self.session.connection

    @property
    def negotiated(self) -> negotiate.Negotiated:
        negotiated = self.session.connection.negotiated
        assert negotiated is not None
        return negotiated
