"""The request for an isolation, where each layer can be measured, and what to do about those that cannot."""

import secrets
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from app.clients.base import Secrets
from app.environment.collect import Environment, collect
from app.environment.host.processes import servers_here
from app.environment.link.facts import is_this_machine
from app.environment.samba.control import SmbdControl
from app.errors import MeasurementError, UsageError
from app.isolation.dbench import TBENCH_PORT
from app.isolation.folders import DiskPlace, find_disk_place
from app.isolation.script import Operation, Script, load_script
from app.server.shell import ServerShell, check_ssh_host
from app.targets import ISOLATION_PREFIX
from storage.isolations import Isolation
from storage.json_reader import shared
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


def parse_clients(text: str) -> tuple[int, ...]:
    """Comma-separated numbers of clients, each once, sorted. Raises UsageError."""
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and 1 <= int(word) <= MOST_CLIENTS for word in words):
        raise UsageError(f"{text!r} is no list of numbers from 1 to {MOST_CLIENTS}, such as 1,4,8")
    return tuple(sorted({int(word) for word in words}))


def request_to_resume(isolation: Isolation, secrets: Secrets) -> IsolationRequest:
    """The request that completes an interrupted isolation. Raises UsageError if its script has changed."""
    whole = load_script(isolation.script_path)
    without = [Operation(name) for name in isolation.without]
    if whole.without(without).digest != isolation.script_sha256:
        raise UsageError(f"the script {isolation.script} is not what it was when {isolation.id} began: begin a new one")
    return IsolationRequest(**shared(isolation, IsolationRequest), secrets=secrets, whole_script=whole)


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where each layer works."""

    shell: ServerShell | None = None
    """None where no program can be started on the server."""
    disk: DiskPlace | None = None
    """None where the disk cannot be measured."""
    share_folder: str
    share_folder_there: str | None = None
    """Its path on the server."""
    network: bool = False
    same_machine: bool = False
    loopback: bool = False
    link_bits_per_second: int | None = None
    processors: int | None = None
    smbd: SmbdControl | None = None
    smb_conf: str | None = None
    profiling: str | None = None
    """Level of smbd's profiling before the isolation."""
    problems: tuple[str, ...] = ()


@dataclass(slots=True)
class _Found:
    problems: list[str] = field(default_factory=list)

    def missing(self, layer: str, why: str) -> None:
        self.problems.append(f"{layer} not measured: {why}")


def find_places(request: IsolationRequest) -> Places:
    """Look at the server. Raises UsageError for a target that is no share."""
    target = request.target
    if not target.abilities.has_share or not target.share:
        raise UsageError("isolate needs a share: smb://HOST/SHARE, or smb://HOST/SHARE/FOLDER")
    if request.server_ssh:
        check_ssh_host(request.server_ssh)
    found = _Found()
    around = collect(target, ssh=request.server_ssh, smb_conf=request.smb_conf, window_seconds=0)
    here = is_this_machine(target.host) and request.server_ssh is None
    reached = here or (request.server_ssh and around.server)
    shell = ServerShell(request.server_ssh) if reached else None
    name = f"{ISOLATION_PREFIX}{secrets.token_hex(4)}"
    share_folder = str(PurePosixPath(target.path.strip("/")) / name)
    folder = _share_path(around, request)
    loopback = around.link is not None and around.link.loopback
    if shell is None:
        found.missing(
            "disk, network and profile",
            next(iter(around.problems), "the server does not answer")
            if request.server_ssh
            else f"the way to {target.host} by ssh is not known; name it, such as root@{target.host}",
        )
    conf = around.server.get("smb.conf.path")
    smbd, profiling = _smbd(shell, str(conf) if conf else None, request, found) if shell else (None, None)
    processors = around.server.get("cpu.count")
    return Places(
        shell=shell,
        disk=_disk(shell, folder, name, around, found) if shell else None,
        share_folder=share_folder.replace("/", "\\"),
        share_folder_there=f"{folder}/{name}" if folder else None,
        network=shell is not None and _network(shell, request, found, here=here),
        same_machine=here,
        loopback=loopback,
        link_bits_per_second=request.link_bits_per_second or (around.link.bits_per_second if around.link else None),
        processors=processors if isinstance(processors, int) else None,
        smbd=smbd,
        smb_conf=str(conf) if conf else None,
        profiling=profiling,
        problems=tuple(found.problems),
    )


def _share_path(around: Environment, request: IsolationRequest) -> str | None:
    """Path on the server; None if it is unknown or depends on the user."""
    path = str(around.server.get("smb.conf/share/path") or "")
    if not path.startswith("/") or "%" in path:
        return None
    return str(PurePosixPath(path) / request.target.path.strip("/"))


def _disk(shell: ServerShell, folder: str | None, name: str, around: Environment, found: _Found) -> DiskPlace | None:
    if folder is None:
        why = next(iter(around.problems), "the share's folder on the server is unknown; name the server's smb.conf")
    elif not shell.has("dbench"):
        why = f"dbench is not installed: {shell.how_to_install('dbench')}"
    else:
        place = find_disk_place(shell, folder, f"{name}-disk")
        if isinstance(place, DiskPlace):
            return place
        why = place
    found.missing("disk", why)
    return None


def _network(shell: ServerShell, request: IsolationRequest, found: _Found, *, here: bool) -> bool:
    near = ServerShell()
    if not near.has("tbench"):
        found.missing("network", f"tbench is not installed: {near.how_to_install('dbench')}")
    elif here:
        if near.run("unshare", "-n", "true").code and near.run("unshare", "-r", "-n", "true").code:
            found.missing("network", "no network namespace can be made here, and tbench_srv listens on every address")
        else:
            return True
    elif not shell.has("tbench_srv"):
        found.missing("network", f"tbench_srv is not installed: {shell.how_to_install('dbench')}")
    elif not request.expose_tbench:
        found.missing(
            "network",
            f"tbench_srv would listen on every address of {request.target.host}, port {TBENCH_PORT}, for whoever asks, "
            f"while it is measured: allow that by naming {request.target.host} once more, to expose tbench there",
        )
    else:
        return True
    return False


def _smbd(
    shell: ServerShell, conf: str | None, request: IsolationRequest, found: _Found
) -> tuple[SmbdControl | None, str | None]:
    processes = servers_here(request.target.port_number) if shell.ssh is None else frozenset[int]()
    smbd = SmbdControl(shell, conf, processes)
    if conf is None:
        found.missing("profile", "which smb.conf the server has is unknown; name the file")
        return None, None
    try:
        return smbd, smbd.level()
    except MeasurementError as error:
        found.missing("profile", str(error))
    return None, None
