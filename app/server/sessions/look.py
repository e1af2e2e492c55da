"""Looks at the sessions of an smbd, here or by ssh: whose they are, and what each did in some seconds.

``sessions.sh`` prints two readings of the server's counters, and what smbstatus says of the sessions. A session's
bytes are those of its connections, as TCP counts them (``ss -i``): the counters of its process (``/proc/PID/io``) miss
what is sent to a socket, and some of what other threads read. Its processor time is that of its process.
"""

import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from app.base import errors
from app.server import shell
from app.server.sessions import holders as open_files
from app.server.sessions import readings as session_readings
from storage.json_reader import LARGEST, moment_text
from storage.who import MachineUse, ServerSession

REQUESTS_SECONDS = 30.0
"""From this length on a look counts requests: smbstatus, which then starts three times and not once, takes 40 ms."""

_TICKS_A_SECOND = 100
"""Clock ticks, in which Linux tells times of processes, on every kind of machine (USER_HZ)."""
_PACKAGES = {"ss": "iproute2", "smbstatus": "samba"}
"""Which package has each program that the script needs."""
_MOST_MEGABITS = 10**7
"""A card that says it is faster is believed to have this speed, 10 Tbit/s."""
_TIMES = re.compile(r"(\d{1,6})m(\d{1,6}(?:\.\d{1,9})?)s")
"""What the shell says of its processor time: ``0m0.050000s``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsLook:
    """What the sessions of one smbd and their machine did in some seconds."""

    seconds: float
    """By the server's clock."""
    machine: MachineUse
    sessions: tuple[ServerSession, ...]
    ended: int
    """Number of processes that ended meanwhile."""
    requests: int | None
    """Of all sessions; None where smbd does not count them."""
    look_cpu_seconds: float
    """What the look took of the server's processors."""


def look_at_sessions(
    port: int, ssh: str | None, smb_conf: str | None, seconds: float, stop: threading.Event | None = None
) -> SessionsLook:
    """Look for that long at the smbd on a port, here or by ssh. Raises MeasurementError.

    Raises CancelledError once ``stop`` is set.
    """
    server = shell.ServerShell(ssh)
    script = shell.script_file("app.server.sessions", "sessions.sh")
    requests = "yes" if seconds >= REQUESTS_SECONDS else ""
    settings = {"port": str(port), "conf": smb_conf or "", "seconds": f"{seconds:g}", "requests": requests}
    answer = shell.run_script(script, settings, ssh, seconds + shell.RUN_SECONDS, stop)
    now = datetime.now(UTC)
    if stop is not None and stop.is_set():
        raise errors.CancelledError("cancelled")
    _check(answer, server, port)

    first = session_readings.reading_of(answer, "first")
    last = session_readings.reading_of(answer, "last")
    if first is None or last is None or last.uptime_seconds <= first.uptime_seconds:
        raise errors.MeasurementError(f"the counters of {server.where} make no sense: look again")

    owners = session_readings.parse_owners(answer.text("owners") or "")
    holders, held = open_files.parse_holders(answer.text("sessions") or "", answer.text("users") or "")
    return SessionsLook(
        seconds=last.uptime_seconds - first.uptime_seconds,
        machine=_machine_use(first, last, _card_speeds(answer.text("last.counters") or "")),
        sessions=tuple(_sessions(first, last, holders, held, owners, now)),
        ended=len(first.processes.keys() - last.processes.keys()),
        requests=_all_requests(first, last),
        look_cpu_seconds=_seconds_of_times(answer.stripped("times")),
    )


def _check(answer: shell.Answer, server: shell.ServerShell, port: int) -> None:
    """Raises MeasurementError where the script could not look."""
    if answer.problem:
        raise errors.MeasurementError(f"the sessions cannot be read: {answer.problem}")

    program = answer.stripped("missing")
    if program:
        how_to_install = server.how_to_install(_PACKAGES.get(program, program))
        raise errors.MissingProgramError(f"{program} is not installed on {server.where}: {how_to_install}")
    if answer.stripped("user") != "0":
        only_root = f"only root sees the sessions of smbd on {server.where}"
        if server.ssh is None:
            raise errors.MeasurementError(f"{only_root}: start sharebench as root, such as with sudo")
        raise errors.MeasurementError(f"{only_root}: log in there as root", options="--server-ssh root@HOST")
    if not answer.stripped("smbd"):
        raise errors.MeasurementError(
            f"no smbd listens on port {port} of {server.where}: start it, or name its port in the target"
        )
    if answer.stripped("gone"):
        raise errors.MeasurementError(f"smbd on port {port} of {server.where} ended during the look: look again")


def _all_requests(first: session_readings.SessionsReading, last: session_readings.SessionsReading) -> int | None:
    """None where smbd counts none: its counters are 0 then, or stand still, whatever its sessions do."""
    growth = last.all_requests - first.all_requests
    return growth if growth > 0 else None


def _process_by_peer(holders: Mapping[int, open_files.Holder], owners: Mapping[str, int]) -> dict[str, int]:
    processes: dict[str, int] = {}
    for pid, holder in holders.items():
        processes |= dict.fromkeys(holder.peers, pid)
    return processes | dict(owners)


def _sessions(
    first: session_readings.SessionsReading,
    last: session_readings.SessionsReading,
    holders: Mapping[int, open_files.Holder],
    held: open_files.Held,
    owners: Mapping[str, int],
    now: datetime,
) -> Iterator[ServerSession]:
    """The sessions that were there at the end. All that one did counts if it began after the first reading.

    ``owners``: the process of a connection, by its peer, where smbstatus does not tell of all of them.
    """
    seconds = last.uptime_seconds - first.uptime_seconds
    moved = _moved_bytes(first, last, _process_by_peer(holders, owners))
    are_counted = bool(last.requests) and _all_requests(first, last) is not None
    for pid, holder in holders.items():
        process = last.processes.get(pid)
        if process is None:
            continue

        process_before = first.processes.get(pid)
        ticks = process.ticks - (process_before.ticks if process_before else 0)
        age_seconds = last.uptime_seconds - process.started_ticks / _TICKS_A_SECOND
        sent_bytes, received_bytes = (None, None) if moved is None else moved.get(pid, (0, 0))
        requests = last.requests.get(pid, 0) - first.requests.get(pid, 0)
        yield ServerSession(
            process=pid,
            users=tuple(holder.users),
            client=holder.address,
            machine=holder.machine if holder.machine != holder.address else "",
            connected_at=moment_text(now - timedelta(seconds=max(0.0, age_seconds))),
            dialect=holder.dialect,
            cpu_percent=100 * max(0, ticks) / _TICKS_A_SECOND / seconds,
            sent_bytes=sent_bytes,
            received_bytes=received_bytes,
            disk_bytes=max(0, last.disk_bytes.get(pid, 0) - first.disk_bytes.get(pid, 0)),
            requests=max(0, requests) if are_counted else None,
            open_files=held[(open_files.FILES, pid)],
            locks=held[(open_files.LOCKS, pid)],
        )


def _moved_bytes(
    first: session_readings.SessionsReading, last: session_readings.SessionsReading, process_by_peer: Mapping[str, int]
) -> dict[int, tuple[int, int]] | None:
    """Bytes sent and received by each process on all of its connections; None where they are not counted."""
    if last.sockets is None:
        return None

    moved: dict[int, tuple[int, int]] = {}
    for peer, (sent, received) in last.sockets.items():
        process = process_by_peer.get(peer)
        if process is None:
            continue
        # A connection that began after the first reading sent and received all of its bytes since then.
        sent_before, received_before = (first.sockets or {}).get(peer, (0, 0))
        sent_bytes, received_bytes = moved.get(process, (0, 0))
        moved[process] = (
            sent_bytes + max(0, sent - sent_before),
            received_bytes + max(0, received - received_before),
        )
    return moved


def _machine_use(
    first: session_readings.SessionsReading, last: session_readings.SessionsReading, speeds: Mapping[str, int]
) -> MachineUse:
    """``speeds`` are those of the network cards, in bits per second; 0 where it is not known."""
    seconds = last.uptime_seconds - first.uptime_seconds
    rates: dict[str, float] = {}
    shares: dict[str, float] = {}
    for card in speeds.keys() & first.interfaces.keys() & last.interfaces.keys():
        received = last.interfaces[card][0] - first.interfaces[card][0]
        sent = last.interfaces[card][1] - first.interfaces[card][1]
        rates[card] = 8 * max(0, received, sent) / seconds
        shares[card] = rates[card] / (speeds[card] or LARGEST)

    disk_percents = {}
    for disk, busy_seconds in last.disk_busy_seconds.items():
        growth = busy_seconds - first.disk_busy_seconds.get(disk, busy_seconds)
        disk_percents[disk] = min(100.0, 100 * max(0.0, growth) / seconds)

    busiest_card = max(shares, key=shares.__getitem__, default="")
    busiest_disk = max(disk_percents, key=disk_percents.__getitem__, default="")
    total_ticks = max(1, last.cpu.total - first.cpu.total)
    return MachineUse(
        processors=last.processors,
        cpu_percent=100 * max(0, last.cpu.busy - first.cpu.busy) / total_ticks,
        card=busiest_card,
        card_bits_per_second=rates.get(busiest_card),
        link_bits_per_second=speeds.get(busiest_card) or None,
        disk=busiest_disk,
        disk_percent=disk_percents.get(busiest_disk),
    )


def _card_speeds(counters: str) -> dict[str, int]:
    """Bits per second by card, from lines such as ``/sys/class/net/eth0/speed:1000``; 0 where it is not known."""
    speeds = {}
    for path, lines in session_readings.lines_by_file(counters).items():
        words = path.split("/")
        if path.startswith("/sys/class/net/") and len(words) == 6:
            speeds[words[4]] = 10**6 * min(session_readings.whole(lines[0]), _MOST_MEGABITS)
    return speeds


def _seconds_of_times(text: str) -> float:
    """All processor time that the shell's ``times`` tells, of itself and of its programs."""
    return sum(60 * int(minutes) + float(seconds) for minutes, seconds in _TIMES.findall(text))
