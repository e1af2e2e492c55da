"""The network campaign: something happens at each message of a session, and either it completes or says why not."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import random
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

from app.clients.base import Secrets
from storage.plan import Settings
from storage.records import Command, Target
from tests.app.clients.ftp.proxy import FtpProxy
from tests.app.clients.smb.proxy import Message, Proxy
from tests.reliability import ftp_faults, smb_faults
from tests.reliability.figures import Clock, Figures
from tests.reliability.ftps_proxy import HOSTS, FtpsProxy, ftps_server
from tests.reliability.measured import Measured
from tests.servers.smbd import Smbd
from tests.servers.vsftpd import Vsftpd
from tests.specs import order_with

TIMEOUT_SECONDS = 1.5
LIMIT_SECONDS = 40 * TIMEOUT_SECONDS
"""A stall, and tidying up over a new connection that stalls as well: whoever takes longer than this hangs."""
SIZE_BYTES = 700_001
BLOCK_BYTES = 100_000
WORKERS = 6
OTHER_CLIENTS = {"smb": "smbclient", "ftp": "curl"}
CLIENTS = 5
"""Of so many sessions the last is another program's."""
PROTECTIONS = 4
"""Of so many SMB sessions one is signed, one encrypted, and two are neither."""
TURN = 1_001
"""From one seed of a case to the next it gets another client and protection."""
FILE = "network.bin"

KINDS: dict[tuple[str, str], dict[str, Any]] = {
    ("smb", "answers"): smb_faults.ANSWERS,
    ("smb", "requests"): smb_faults.REQUESTS,
    ("ftp", "replies"): ftp_faults.REPLIES,
    ("ftp", "commands"): ftp_faults.COMMANDS,
    ("ftp", "down"): ftp_faults.DATA,
    ("ftp", "up"): ftp_faults.DATA,
    ("ftps", "replies"): ftp_faults.ENCRYPTED,
    ("ftps", "commands"): ftp_faults.ENCRYPTED,
    ("ftps", "down"): ftp_faults.ENCRYPTED,
    ("ftps", "up"): ftp_faults.ENCRYPTED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One fault at one message of one session."""

    protocol: str
    command: Command
    place: str
    """Which script of the proxy: answers or requests, replies, commands, down or up."""
    number: int
    fault: str
    seed: int

    def __str__(self) -> str:
        return f"{self.protocol} {self.command} {self.place}[{self.number}] {self.fault} seed {self.seed}"


class AtMessage:
    """Lets messages through, all but the nth, which the fault gets; counts them."""

    def __init__(self, case: Case | None = None) -> None:
        self.count = 0
        self._case = case
        self._rng = random.Random(case.seed if case else 0)

    def __call__(self, message: Any) -> Iterable[Any]:
        number, case = self.count, self._case
        self.count += 1
        if case is None or number < case.number or (number > case.number and case.fault not in smb_faults.LASTING):
            return [message]
        found: Iterable[Message] = KINDS[case.protocol, case.place][case.fault](message, self._rng)
        return found


@dataclass(frozen=True, slots=True)
class Servers:
    """The real servers behind the proxies."""

    smbd: Smbd
    vsftpd: Vsftpd
    ftps: Vsftpd

    def between(self, protocol: str, scripts: dict[str, AtMessage], worker: int) -> AbstractContextManager[Any]:
        """A proxy before one of them; each worker's stand at an address of their own."""
        if protocol == "smb":
            return Proxy(self.smbd.host, self.smbd.port, **scripts)
        if protocol == "ftps":
            return FtpsProxy(self.ftps, HOSTS[worker], **scripts)
        return FtpProxy(self.vsftpd.host, self.vsftpd.port, **scripts)

    def measured(self, protocol: str, command: Command, proxy: Any, seed: int = 0) -> Measured:
        """A series of one run through the proxy, by the client and with the protection of the seed."""
        servers: dict[str, Smbd | Vsftpd] = {"smb": self.smbd, "ftp": self.vsftpd, "ftps": self.ftps}
        server = servers[protocol]
        root = "" if protocol == "smb" else "/"
        target: Target = replace(server.target(root + FILE if command is Command.GET else root), port=proxy.port)
        target = replace(target, host=getattr(proxy, "host", target.host))
        protected = seed % PROTECTIONS if protocol == "smb" else 0
        settings = Settings(
            timeout_seconds=TIMEOUT_SECONDS, block_bytes=BLOCK_BYTES, sign=protected == 1, encrypt=protected == 2
        )
        secrets: Secrets = server.secrets()
        size_bytes = SIZE_BYTES if command is Command.PUT else None
        plan = order_with(
            command=command,
            target=target,
            client=OTHER_CLIENTS.get(protocol, "") if seed % CLIENTS == CLIENTS - 1 else "",
            settings=settings,
            secrets=secrets,
            runs=1,
            warmups=0,
            size_bytes=size_bytes,
        )
        return Measured(plan, server.folder)

    def run(self, case: Case, figures: Figures, worker: int) -> None:
        """One case."""
        with self.between(case.protocol, {case.place: AtMessage(case)}, worker) as proxy:
            seed = 0 if case.fault in smb_faults.SLOW_FOR_OTHERS else case.seed
            measured = self.measured(case.protocol, case.command, proxy, seed)
            measured.run(LIMIT_SECONDS)
        if getattr(proxy, "leaked", False):
            figures.losses.append(f"{case}: the password could be read on the way")
        settings = measured.plan.spec.settings
        protection = "encrypted " if settings.encrypt else "signed " if settings.sign else ""
        figures.counts["faults"] += 1
        figures.counts[f"of {protection}{case.protocol}"] += 1
        figures.counts["completed" if measured.completed else "told with the reason"] += 1
        figures.took(measured.seconds)
        figures.losses += [f"{case}: {loss}" for loss in measured.losses(SIZE_BYTES)]

    def cases(self) -> Iterator[Case]:
        """Each fault at each message of each session, as a session without a fault has them."""
        for (protocol, place), faults in KINDS.items():
            for command in Command:
                count = AtMessage()
                with self.between(protocol, {place: count}, 0) as proxy:
                    self.measured(protocol, command, proxy).run(60)
                seeds = range(PROTECTIONS if protocol == "smb" else 1)
                for number, fault, seed in itertools.product(range(count.count), faults, seeds):
                    yield Case(
                        protocol=protocol, command=command, place=place, number=number, fault=fault,
                        seed=number + TURN * seed,
                    )  # fmt: skip


_servers: Servers | None = None


def _work(cases: list[Case], seconds: float, worker: int) -> Figures:
    """One worker's share, again and again with other seeds while there is time."""
    assert _servers is not None
    figures, clock = Figures(), Clock(seconds)
    for turn in itertools.count():
        for case in cases:
            if clock.is_over():
                return figures
            _servers.run(replace(case, seed=case.seed + TURN * PROTECTIONS * turn), figures, worker)
    raise AssertionError


def campaign(seconds: float) -> Figures:
    """Shuffled cases for that long, in several processes since most of their time is waiting."""
    global _servers  # noqa: PLW0603  the forked workers find their servers there
    with ExitStack() as stack:
        smbd, vsftpd, ftps = Smbd(), Vsftpd(), ftps_server()
        certificate = str(ftps.root / "certificate.pem")
        stack.enter_context(mock.patch.dict(os.environ, {"SSL_CERT_FILE": certificate}))
        for server in (smbd, vsftpd, ftps):
            stack.callback(server.stop)
            server.start()
            server.make_file(FILE, random.Random(17).randbytes(SIZE_BYTES))
        _servers = Servers(smbd, vsftpd, ftps)
        cases = list(_servers.cases())
        random.Random(17).shuffle(cases)
        total = Figures()
        total.counts["kinds of case"] = len(cases)
        with multiprocessing.get_context("fork").Pool(WORKERS) as pool:
            shares = [(cases[worker::WORKERS], seconds, worker) for worker in range(WORKERS)]
            for part in pool.starmap_async(_work, shares).get(seconds + 10 * LIMIT_SECONDS):
                total.add(part)
        return total
