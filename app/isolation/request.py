"""The request for an isolation."""

from dataclasses import dataclass, field

from app.clients.base import Secrets
from app.errors import UsageError
from app.isolation.script import Operation, Script, load_script
from storage.isolations import Isolation
from storage.plan import Settings
from storage.records import Target

DEFAULT_CLIENTS = (1, 4, 8, 16)
DEFAULT_ROUNDS = 3
DEFAULT_SECONDS = 5
"""Of a run, plus a fifth for the warm-up, as in dbench."""
DEFAULT_MINUTES = 9
MOST_CLIENTS = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolationRequest:
    """One isolation to measure."""

    target: Target
    secrets: Secrets
    settings: Settings = field(default_factory=Settings)
    whole_script: Script
    script_path: str | None = None
    """None for our own script."""
    without: tuple[str, ...] = ()
    """Operations left out in every layer."""
    clients: tuple[int, ...] = DEFAULT_CLIENTS
    rounds: int = DEFAULT_ROUNDS
    seconds: int = DEFAULT_SECONDS
    within_seconds: float = 60.0 * DEFAULT_MINUTES
    """No round begins that would probably end later than this, from the beginning."""
    label: str = ""
    question: str = ""
    link_bits_per_second: int | None = None
    server_ssh: str | None = None
    smb_conf: str | None = None
    expose_tbench: bool = False
    """Allow ``tbench_srv``, which listens on every address, on another machine."""


def request_to_resume(isolation: Isolation, secrets: Secrets) -> IsolationRequest:
    """The request that completes an interrupted isolation. Raises UsageError if its script has changed."""
    whole = load_script(isolation.script_path)
    without = [Operation(name) for name in isolation.without]
    if whole.without(without).digest != isolation.script_sha256:
        raise UsageError(f"the script {isolation.script} is not what it was when {isolation.id} began: begin a new one")
    return IsolationRequest(
        target=isolation.target,
        secrets=secrets,
        settings=isolation.settings,
        whole_script=whole,
        script_path=isolation.script_path,
        without=isolation.without,
        clients=isolation.clients,
        rounds=isolation.rounds,
        seconds=isolation.seconds,
        label=isolation.label,
        link_bits_per_second=isolation.link_bits_per_second,
        server_ssh=isolation.server_ssh,
        smb_conf=isolation.smb_conf,
        expose_tbench=isolation.expose_tbench,
    )
