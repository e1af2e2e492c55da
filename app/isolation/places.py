"""Where each layer of an isolation can be measured: a look at the server before anything is made there.

The layers are the share (the server as a whole), the server's disk, and the network.
"""

import secrets
from dataclasses import dataclass
from pathlib import PurePosixPath

from app.base import errors, own_names
from app.base.ssh_address import check_ssh_host
from app.isolation.disk_place import DiskPlace, find_disk_place
from app.isolation.spec import IsolationRequest
from app.server import facts
from app.server import shell as server_shell
from app.server.processes import servers_here
from app.server.routes import is_this_machine
from app.server.smbd import SmbdControl

TBENCH_PORT = 7003
"""Where tbench_srv listens, always."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """What of a server can be reached, and where each layer is measured on it."""

    shell: server_shell.ServerShell | None = None
    """What runs commands on the server; None where it is reached through its share alone."""
    disk: DiskPlace | None = None
    """Where dbench works; None where the disk is not measured."""
    share_folder: str
    """The folder that our clients work in, as they name it: from the root of the share, with backslashes."""
    path_of_share_folder: str | None = None
    """The path of the same folder on the server; None where it is unknown or depends on the user."""
    network: bool = False
    """Whether the network is measured."""
    same_machine: bool = False
    """Whether the server is this machine."""
    loopback: bool = False
    """Whether the way to the server is this machine's loopback interface."""
    link_bits_per_second: int | None = None
    processors: int | None = None
    """Of the server; None where unknown."""
    smbd: SmbdControl | None = None
    """What reads smbd's profile; None where it cannot be read."""
    smb_conf: str | None = None
    profiling: str | None = None
    """Level of smbd's profiling before the isolation."""
    problems: tuple[str, ...] = ()
    """Why a layer is not measured, or the profile not read: a sentence each."""


def find_places(request: IsolationRequest) -> Places:
    """Look at the server. Raises UsageError for a target that is no share."""
    target = request.target
    if not target.abilities.has_share or not target.share:
        raise errors.UsageError("isolate needs a share: smb://HOST/SHARE, or smb://HOST/SHARE/FOLDER")
    if request.server_ssh:
        check_ssh_host(request.server_ssh)

    # The server's processors are not watched now (``window_seconds``): that is done in each run.
    environment = facts.collect(target, ssh=request.server_ssh, smb_conf=request.smb_conf, window_seconds=0)
    is_here = is_this_machine(target.host) and request.server_ssh is None
    is_reached = is_here or (request.server_ssh and environment.server)
    shell = server_shell.ServerShell(request.server_ssh) if is_reached else None
    problems: list[str] = []
    if shell is None:
        problems.append(f"disk, network and profile not measured: {_why_not_reached(request, environment)}")

    name = f"{own_names.ISOLATION_PREFIX}{secrets.token_hex(4)}"
    share_folder = str(PurePosixPath(target.path.strip("/")) / name)
    parent_on_server = _share_path(environment, request)
    conf_fact = environment.server.get("smb.conf.path")
    smb_conf = str(conf_fact) if conf_fact else None
    processors = environment.server.get("cpu.count")
    link = environment.link

    smbd: SmbdControl | None = None
    profiling: str | None = None
    disk: DiskPlace | None = None
    has_network = False
    if shell is not None:
        smbd, profiling = _find_smbd(shell, smb_conf, request, problems)
        disk = _find_disk(shell, parent_on_server, name, environment, problems)
        has_network = _can_measure_network(shell, request, problems, is_here=is_here)

    return Places(
        shell=shell,
        same_machine=is_here,
        disk=disk,
        share_folder=share_folder.replace("/", "\\"),
        path_of_share_folder=f"{parent_on_server}/{name}" if parent_on_server else None,
        network=has_network,
        loopback=link is not None and link.loopback,
        link_bits_per_second=request.link_bits_per_second or (link.bits_per_second if link else None),
        processors=processors if isinstance(processors, int) else None,
        smbd=smbd,
        smb_conf=smb_conf,
        profiling=profiling,
        problems=tuple(problems),
    )


def _why_not_reached(request: IsolationRequest, environment: facts.Environment) -> str:
    if request.server_ssh:
        return next(iter(environment.problems), "the server does not answer")
    host = request.target.host
    return f"the way to {host} by ssh is not known; name it, such as root@{host}"


def _share_path(environment: facts.Environment, request: IsolationRequest) -> str | None:
    """Path on the server; None if it is unknown or depends on the user."""
    path = str(environment.server.get("smb.conf/share/path") or "")
    if not path.startswith("/") or "%" in path:
        return None
    return str(PurePosixPath(path) / request.target.path.strip("/"))


def _find_disk(
    shell: server_shell.ServerShell, folder: str | None, name: str, environment: facts.Environment, problems: list[str]
) -> DiskPlace | None:
    place = _disk_or_why_not(shell, folder, name, environment)
    if isinstance(place, DiskPlace):
        return place
    problems.append(f"disk not measured: {place}")
    return None


def _disk_or_why_not(
    shell: server_shell.ServerShell, folder: str | None, name: str, environment: facts.Environment
) -> DiskPlace | str:
    if folder is None:
        unknown = "the share's folder on the server is unknown; name the server's smb.conf"
        return next(iter(environment.problems), unknown)
    if not shell.has("dbench"):
        return f"dbench is not installed: {shell.how_to_install('dbench')}"
    return find_disk_place(shell, folder, f"{name}-disk")


def _can_measure_network(
    shell: server_shell.ServerShell, request: IsolationRequest, problems: list[str], *, is_here: bool
) -> bool:
    obstacle = _why_no_network(shell, request, is_here=is_here)
    if obstacle is None:
        return True
    problems.append(f"network not measured: {obstacle}")
    return False


def _why_no_network(shell: server_shell.ServerShell, request: IsolationRequest, *, is_here: bool) -> str | None:
    own_shell = server_shell.ServerShell()
    if not own_shell.has("tbench"):
        return f"tbench is not installed: {own_shell.how_to_install('dbench')}"
    if is_here:
        as_root = own_shell.run("unshare", "-n", "true")
        if not as_root.code or not own_shell.run("unshare", "-r", "-n", "true").code:
            return None
        return "no network namespace can be made here, and tbench_srv listens on every address"

    if not shell.has("tbench_srv"):
        return f"tbench_srv is not installed: {shell.how_to_install('dbench')}"
    if request.expose_tbench:
        return None
    return (
        f"it needs port {TBENCH_PORT} of {request.target.host} open to everyone meanwhile (tbench_srv): allow that by"
        f" naming {request.target.host} once more, to expose tbench there"
    )


def _find_smbd(
    shell: server_shell.ServerShell, conf: str | None, request: IsolationRequest, problems: list[str]
) -> tuple[SmbdControl | None, str | None]:
    """What reads smbd's profile, and the level of its profiling now; None for both where it cannot be read."""
    if conf is None:
        problems.append("profile not measured: which smb.conf the server has is unknown; name the file")
        return None, None

    processes = servers_here(request.target.port_number) if shell.ssh is None else frozenset[int]()
    smbd = SmbdControl(shell, conf, processes)
    try:
        return smbd, smbd.level()
    except errors.MeasurementError as error:
        problems.append(f"profile not measured: {error}")
    return None, None
