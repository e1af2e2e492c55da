"""The fixtures that start real servers; session-scoped ones live once in each test process."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.servers.iperf3 import Iperf3Server
from tests.servers.netns import Link
from tests.servers.process import program, require, unavailable
from tests.servers.smbd import Smbd
from tests.servers.sshd import Sshd
from tests.servers.vsftpd import Vsftpd

Options = Mapping[str, str]

_shared: list[Smbd] = []


@pytest.fixture(scope="session")
def smbd() -> Iterator[Smbd]:
    """A running smbd with default settings, shared by tests that do not change it."""
    server = Smbd()
    try:
        server.start()
        _shared.append(server)
        yield server
    finally:
        server.stop()


def empty_shared_folders() -> None:
    """Remove what tests left on the smbd that all share: another may want to make a file of the same name."""
    for server in _shared:
        for folder in (server.folder, server.guest_folder):
            for path in folder.iterdir():
                remove = shutil.rmtree if path.is_dir() and not path.is_symlink() else Path.unlink
                remove(path)


@pytest.fixture
def make_smbd() -> Iterator[Callable[..., Smbd]]:
    """A factory of running smbd: ``make_smbd(global_options, share_options, link=None)``."""
    with ExitStack() as stack:

        def make(
            global_options: Options | None = None, share_options: Options | None = None, link: Link | None = None
        ) -> Smbd:
            server = Smbd(global_options, share_options, link)
            stack.callback(server.stop)
            server.start()
            return server

        yield make


@pytest.fixture(scope="session")
def vsftpd() -> Iterator[Vsftpd]:
    """A running vsftpd with default settings, shared by tests that do not change it."""
    server = Vsftpd()
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture
def make_vsftpd() -> Iterator[Callable[..., Vsftpd]]:
    """A factory of running vsftpd: ``make_vsftpd(options, tls=None | 'explicit' | 'implicit', link=None)``."""
    with ExitStack() as stack:

        def make(options: Options | None = None, tls: str | None = None, link: Link | None = None) -> Vsftpd:
            server = Vsftpd(options, tls, link)
            stack.callback(server.stop)
            server.start()
            return server

        yield make


@pytest.fixture(scope="session")
def iperf3_server() -> Iterator[Iperf3Server]:
    """A running ``iperf3 -s``."""
    server = Iperf3Server()
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture
def make_link() -> Iterator[Callable[..., Link]]:
    """A factory of links of known speed: ``make_link("100mbit")``; start servers with ``link=`` inside it."""
    with ExitStack() as stack:

        def make(rate: str, burst: str | None = None) -> Link:
            link = Link(rate, burst)
            stack.callback(link.close)
            return link

        yield make


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A folder on a disk of 4 MiB that everyone may write, to be filled."""
    require("mount", "umount")
    folder = Path(tempfile.mkdtemp(prefix="sharebench-disk-"))
    mounted = subprocess.run(
        [program("mount"), "-t", "tmpfs", "-o", "size=4m,mode=1777", "none", str(folder)],
        check=False,
        capture_output=True,
    )
    if mounted.returncode:
        folder.rmdir()
        unavailable(f"mount: {mounted.stderr.decode(errors='replace').strip()}")
    try:
        yield folder
    finally:
        subprocess.run([program("umount"), "--lazy", str(folder)], check=True)
        folder.rmdir()


@pytest.fixture(scope="module")
def sshd() -> Iterator[Sshd]:
    """A running sshd."""
    server = Sshd()
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture
def through(sshd: Sshd, monkeypatch: pytest.MonkeyPatch) -> Sshd:
    """The running sshd, with its ``ssh`` first on the PATH."""
    monkeypatch.setenv("PATH", f"{sshd.path}:{os.environ['PATH']}")
    return sshd


@pytest.fixture
def place(through: Sshd) -> Iterator[Sshd]:
    """A machine that can measure for us, by ``--from fileserver``: with our Python, and nothing of sharebench."""
    through.allow_python()
    yield through
    (through.path / "sharebench").unlink(missing_ok=True)
