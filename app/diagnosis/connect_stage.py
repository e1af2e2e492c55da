"""The stage of the first connect: how long each leg of a login takes, and the look-ups of the server's name."""

import socket
import time
from contextlib import suppress
from typing import Any

from app.clients.smb import wire
from app.clients.smb.channel import Channel
from app.clients.smb.link import SMBLink, reach
from app.diagnosis import measures
from app.diagnosis.bench import Bench
from app.server.host_facts import read_text
from storage import looks

_LEGS = {
    wire.Opcode.NEGOTIATE: "negotiate",
    wire.Opcode.SESSION_SETUP: "login",
    wire.Opcode.TREE_CONNECT: "share",
}
_FAMILIES = {socket.AF_INET: "ipv4", socket.AF_INET6: "ipv6"}


class _TimedChannel(Channel):
    """A channel that notes how long each leg of a first connect takes."""

    def __init__(self, sock: socket.socket, where: str, timeout_seconds: float, legs: dict[str, float]) -> None:
        super().__init__(sock, where, timeout_seconds)
        self._legs = legs
        self._sent_at = 0.0
        self._logins = 0

    def send(self, message: bytearray, payload: wire.View = b"", *, charge: int = 1, sign: bool = False) -> int:
        self._sent_at = time.perf_counter()
        return super().send(message, payload, charge=charge, sign=sign)

    def receive_for(self, message_id: int | None) -> wire.Response:
        response = super().receive_for(message_id)
        seconds = time.perf_counter() - self._sent_at

        leg = _LEGS.get(wire.Opcode(response.command))
        if leg == "login":
            # A login takes several messages.
            self._logins += 1
            self._legs[f"login_{self._logins}"] = seconds
        elif leg:
            self._legs[leg] = seconds
        return response


class _StagedLink(SMBLink):
    """A connection that notes the seconds of each of its legs, from the look-up of the name on.

    `connect` calls `_dial` for the channel: the look-up and the connections of TCP are timed there, all that is sent
    then by the channel.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.legs: dict[str, float] = {}

    def _dial(self, where: str) -> Channel:
        tries: list[tuple[str, float]] = []

        def hold(sock: socket.socket) -> None:
            """Called for each address that is tried, before it is."""
            self._sock = sock  # so that `abort` can interrupt it
            tries.append((_FAMILIES.get(sock.family, "other"), time.perf_counter()))

        timeout_seconds = self._settings.timeout_seconds
        began = time.perf_counter()
        sock = reach(self.target, timeout_seconds, hold)
        connected_at = time.perf_counter()

        self.legs["lookup"] = tries[0][1] - began
        # A try ends where the next one begins.
        ends = [*(tried_at for _, tried_at in tries[1:]), connected_at]
        for (family, tried_at), end in zip(tries, ends, strict=True):
            leg = f"tcp_{family}"
            self.legs[leg] = self.legs.get(leg, 0.0) + end - tried_at
        return _TimedChannel(sock, where, timeout_seconds, self.legs)


def _waited_seconds() -> float:
    """How long this thread has waited for a processor."""
    words = (read_text("/proc/thread-self/schedstat") or "").split()
    return int(words[1]) / 1e9 if len(words) > 1 else 0.0


def connect(bench: Bench) -> looks.Stage:
    """Log in several times, the first time cold; then look each family of addresses up by itself."""
    samples = measures.Samples(list)
    # The plan's number: to find what is affordable, the share is asked for its free space, and the first login of all
    # must be one that is measured here.
    for _ in range(bench.plan.sizes.logins):
        bench.check()
        _measure_login(bench, samples)

    target = bench.target
    for family, name in _FAMILIES.items():
        began = time.perf_counter()
        with suppress(OSError, UnicodeError):
            socket.getaddrinfo(target.host, target.port_number, family=family, type=socket.SOCK_STREAM)
        samples[f"lookup_{name}_seconds"].append(time.perf_counter() - began)
    return measures.stage_of(looks.StageName.CONNECT, samples, {})


def _measure_login(bench: Bench, samples: measures.Samples) -> None:
    began = time.perf_counter()
    waited_before = _waited_seconds()
    with bench.connection(_StagedLink) as link:
        share = link.connected_share()
        opening_at = time.perf_counter()
        folder = share.open(bench.target.path, wire.ACCESS_LIST, options=wire.OPTION_A_FOLDER)
        ended = time.perf_counter()
        samples["processor_wait_seconds"].append(_waited_seconds() - waited_before)
        share.close(folder)

        legs = link.legs | {"first_open": ended - opening_at}
        legs["this_machine"] = max(0.0, ended - began - sum(legs.values()))
        legs["total"] = ended - began
        for name, seconds in legs.items():
            samples[f"{name}_seconds"].append(seconds)
        samples["echo_seconds"] += measures.echo_seconds(share, 3)
