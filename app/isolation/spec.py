"""What is asked of an isolation, and what holds where nothing else is asked for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.base.errors import UsageError
from app.clients.base import Secrets
from app.isolation.script import Operation, Script, load_script
from app.recording.spec import ServerRequest
from app.server.routes import is_this_machine
from forms import wording
from storage.isolation import Isolation
from storage.records import Target

DEFAULT_CLIENTS = (1, 4, 8, 16)
DEFAULT_CLIENTS_ON_SCREEN = (1, 4, 8)
"""What the form of the screen is filled in with."""
MOST_CLIENTS = 512
DEFAULT_ROUNDS = 3
MOST_ROUNDS = 100
_RUNS_OF_A_ROUND = 4
"""Of each number of clients in a round: the server, disk and network together, and one of these alone."""

WHOLE_RUN = 1.6
"""Expected time until the next run, as a multiple of a run's length, before the first has ended."""

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


def expected_seconds(clients: Sequence[int], rounds: int, run_seconds: int, *, is_server_alone: bool) -> float:
    """How long an isolation probably takes; ``is_server_alone``: neither its disk nor the network can be measured."""
    runs_of_a_round = 1 if is_server_alone else _RUNS_OF_A_ROUND
    whole_seconds = rounds * len(clients) * runs_of_a_round * WHOLE_RUN * run_seconds
    return min(60 * DEFAULT_MINUTES, whole_seconds)


def is_server_alone(request: IsolationRequest) -> bool:
    """Whether only the share can be reached, so that the server is measured as a whole.

    It may ask for the address of a name.
    """
    return request.server_ssh is None and not is_this_machine(request.target.host)


def amount_text(request: IsolationRequest) -> str:
    """What is measured, and how long it takes; may ask for the address of a name."""
    is_alone = is_server_alone(request)
    seconds = expected_seconds(request.clients, request.rounds, request.seconds, is_server_alone=is_alone)
    measured = "server, disk and network, interleaved"
    if is_alone:
        measured = (
            "the server as a whole: without ssh to it, neither its disk nor the network can be measured by itself, so"
            " that the answer is about the server or this client only"
        )
    return f"Measures {measured}. Takes about {wording.duration(seconds)}, and leaves no file."


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
