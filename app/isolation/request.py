"""What is asked for in one isolation, and where its layers can be measured."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.clients.base import Secrets
from app.isolation.script import Script
from storage.plan import Settings
from storage.records import Target

DEFAULT_CLIENTS = (1, 4, 8, 16)
DEFAULT_ROUNDS = 3
DEFAULT_SECONDS = 5
"""Of a run, beside a fifth of it before: as dbench takes it."""
MOST_CLIENTS = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolationRequest:
    """One isolation to be measured."""

    target: Target
    secrets: Secrets
    settings: Settings = field(default_factory=Settings)
    whole_script: Script
    script_path: str | None = None
    """Where the script was read from; our own where absent."""
    without: tuple[str, ...] = ()
    """Operations left out for every layer."""
    clients: tuple[int, ...] = DEFAULT_CLIENTS
    rounds: int = DEFAULT_ROUNDS
    seconds: int = DEFAULT_SECONDS
    label: str = ""
    link_bits_per_second: int | None = None
    server_ssh: str | None = None
    smb_conf: str | None = None
    expose_tbench: bool = False
    """Whether ``tbench_srv``, which listens on every address, may be started on another machine."""
