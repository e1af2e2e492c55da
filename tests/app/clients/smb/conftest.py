"""What the tests of the SMB client share: clients that are closed, and content on the share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace

import pytest

from app.clients.base import Content, Meter, Secrets
from app.clients.smb.client import SMBClient
from storage.plan import Settings
from tests.app import fakes
from tests.servers.smbd import Smbd

MakeClient = Callable[..., SMBClient]


@pytest.fixture
def make_client() -> Iterator[MakeClient]:
    """A factory: ``make_client(smbd, port=…, guest=…, secrets=…, target=…, **settings)``."""
    with ExitStack() as stack:

        def make(
            server: Smbd,
            *,
            port: int | None = None,
            guest: bool = False,
            secrets: Secrets | None = None,
            changes: dict[str, str | None] | None = None,
            **settings: object,
        ) -> SMBClient:
            target = replace(server.target(guest=guest), **(changes or {}))  # type: ignore[arg-type]
            if port is not None:
                target = replace(target, port=port)
            usual = Secrets() if guest else server.secrets()
            client = SMBClient(target, secrets or usual, Settings(**settings))  # type: ignore[arg-type]
            stack.callback(client.close)
            return client

        yield make


@pytest.fixture(scope="module")
def smbd_with() -> Iterator[Callable[..., Smbd]]:
    """A factory like ``make_smbd`` whose servers are shared by the tests of a module that ask for the same options."""
    with ExitStack() as stack:
        servers: dict[str, Smbd] = {}

        def find(global_options: Mapping[str, str], share_options: Mapping[str, str] | None = None) -> Smbd:
            key = f"{sorted(global_options.items())} {sorted((share_options or {}).items())}"
            if key not in servers:
                servers[key] = Smbd(global_options, share_options)
                stack.callback(servers[key].stop)
                servers[key].start()
            return servers[key]

        yield find


@pytest.fixture
def meter() -> Meter:
    """A meter that nobody cancels."""
    return fakes.meter()


class Blocks:
    """A sink that puts blocks together whatever their order, and refuses overlaps."""

    def __init__(self, size_bytes: int) -> None:
        self.data = bytearray(size_bytes)
        self.seen: dict[int, int] = {}

    def __call__(self, offset: int, block: memoryview) -> None:
        assert offset not in self.seen
        self.seen[offset] = len(block)
        self.data[offset : offset + len(block)] = block


def content_bytes(content: Content) -> bytes:
    """All bytes of a content."""
    step = 1 << 20
    return b"".join(
        bytes(content.block(at, min(step, content.size_bytes - at))) for at in range(0, content.size_bytes, step)
    )
