"""What is asked of an isolation, and what holds where nothing else is asked for."""

from collections.abc import Iterable
from dataclasses import dataclass

from app.base.errors import UsageError
from app.clients.base import Secrets
from app.isolation.script import Operation, Script, load_script
from app.recording.spec import ServerRequest
from storage.isolation import Isolation
from storage.records import Target

DEFAULT_CLIENTS = (1, 4, 8, 16)
DEFAULT_CLIENTS_ON_SCREEN = (1, 4, 8)
"""What the form of the screen is filled in with."""
MOST_CLIENTS = 512
DEFAULT_ROUNDS = 3
MOST_ROUNDS = 100
DEFAULT_SECONDS = 5
"""Of a run, plus a fifth for the warm-up, as in dbench."""
LEAST_SECONDS = 2
MOST_SECONDS = 3600
DEFAULT_MINUTES = 9
"""How long the whole isolation takes at most; with more rounds or clients, fewer rounds are measured."""
_DEFAULT_SECONDS_IN_ALL = 60.0 * DEFAULT_MINUTES


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolationRequest(ServerRequest):
    """An isolation as it was asked for, or as it is to be completed."""

    target: Target
    whole_script: Script
    """The operations that are measured, before any is left out."""
    script_path: str | None = None
    """The user's own file of it; None for the built-in one."""
    without: tuple[str, ...] = ()
    """Operations that are left out; the server is measured with and without them."""
    clients: tuple[int, ...] = DEFAULT_CLIENTS
    """How many clients work at once; each number is measured."""
    rounds: int = DEFAULT_ROUNDS
    seconds: int = DEFAULT_SECONDS
    """The length of a run."""
    within_seconds: float = _DEFAULT_SECONDS_IN_ALL
    """No round begins that would probably end later than this, from the beginning."""
    link_bits_per_second: int | None = None
    """As the user gave it; None for what the interface says."""
    expose_tbench: bool = False
    """Allow ``tbench_srv``, which listens on every address, on another machine."""


def clients_text(clients: Iterable[int]) -> str:
    """What ``parse_clients`` reads: ``1,4,8``."""
    return ",".join(map(str, clients))


def parse_clients(text: str) -> tuple[int, ...]:
    """Comma-separated numbers of clients, each once, sorted. Raises UsageError."""
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and 1 <= int(word) <= MOST_CLIENTS for word in words):
        raise UsageError(f"{text!r} is no list of numbers from 1 to {MOST_CLIENTS}, such as 1,4,8")
    return tuple(sorted({int(word) for word in words}))


def request_to_resume(
    isolation: Isolation, secrets: Secrets, within_seconds: float = _DEFAULT_SECONDS_IN_ALL
) -> IsolationRequest:
    """The request that completes an interrupted isolation. Raises UsageError if its script has changed."""
    whole_script = load_script(isolation.script_path)
    script = whole_script.without([Operation(name) for name in isolation.without])
    if script.digest != isolation.script_sha256:
        raise UsageError(f"the script {isolation.script} is not what it was when {isolation.id} began: begin a new one")

    return IsolationRequest(
        secrets=secrets,
        settings=isolation.settings,
        label=isolation.label,
        question=isolation.question,
        server_ssh=isolation.server_ssh,
        smb_conf=isolation.smb_conf,
        target=isolation.target,
        whole_script=whole_script,
        script_path=isolation.script_path,
        without=isolation.without,
        clients=isolation.clients,
        rounds=isolation.rounds,
        seconds=isolation.seconds,
        within_seconds=within_seconds,
        link_bits_per_second=isolation.link_bits_per_second,
        expose_tbench=isolation.expose_tbench,
    )
