"""The share that a client of a replay works on."""

import contextlib
from collections.abc import Iterator

from app.clients.smb.ceiling import null_channel
from app.clients.smb.share import Share
from app.isolation.replay_messages import ReplayPlan


@contextlib.contextmanager
def connected_share(plan: ReplayPlan) -> Iterator[Share]:
    """The target's, logged in; or that of a null server, which answers at once and does nothing."""
    if plan.null:
        assert plan.client
        with null_channel(plan.client) as channel:
            yield Share(channel, 1)
        return

    from app.clients.smb.client import SMBClient

    with contextlib.closing(SMBClient(plan.target, plan.secrets, plan.settings)) as client:
        yield client.connected_share()
