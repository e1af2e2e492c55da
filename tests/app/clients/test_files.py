"""One user's file operations against real servers, each kind of connection by the same story."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace

import psutil
import pytest

from app.base.errors import AccessDeniedError, LoginError, NoSuchFileError, StalledError, UsageError
from app.clients.base import FileMove, Files, OpenMode, Secrets
from app.clients.registry import make_files
from app.clients.smb.channel import Channel
from app.clients.smb.files import SMBFiles
from app.clients.smb.wire import Response, View
from storage.plan import Settings
from storage.records import Target
from tests.servers.smbd import Smbd
from tests.waiting import HANG_SECONDS

KIB = 1024
MakeFiles = Callable[..., Files]


@pytest.fixture
def make() -> Iterator[MakeFiles]:
    """A factory of connections that are closed at the end: ``make(target, secrets, **settings)``."""
    with ExitStack() as stack:

        def made(target: Target, secrets: Secrets | None = None, **settings: object) -> Files:
            files = make_files(target, secrets or Secrets(), Settings(**settings))  # type: ignore[arg-type]
            stack.callback(files.close)
            return files

        yield made


def smb_files(make: MakeFiles, server: Smbd, **settings: object) -> Files:
    return make(server.target(), server.secrets(), **settings)


@pytest.fixture(params=["smb", "smb, one by one", "ftp", "file"])
def files(request, make, tmp_path) -> tuple[Files, str]:
    """A connection, and a folder of its own."""
    if request.param.startswith("smb"):
        found = smb_files(make, request.getfixturevalue("smbd"), single_requests=request.param != "smb")
        folder = f"folder{os.urandom(4).hex()}"
    elif request.param == "ftp":
        server = request.getfixturevalue("vsftpd")
        found = make(server.target(), server.secrets())
        folder = f"{server.target().path.rstrip('/')}/folder{os.urandom(4).hex()}"
    else:
        found, folder = make(Target(protocol="file", path=str(tmp_path))), str(tmp_path / "folder")
    found.connect()
    found.make_folder(folder)
    return found, folder


def test_the_life_of_a_file(files):
    user, folder = files
    data = memoryview(os.urandom(150 * KIB))
    user.write_file(f"{folder}/small", data[: 4 * KIB])
    user.write_file(f"{folder}/large", data)
    assert user.read_file(f"{folder}/small", 4 * KIB) == 4 * KIB
    assert user.read_file(f"{folder}/large", len(data)) == len(data)
    assert user.query(f"{folder}/large").size_bytes == len(data)
    assert user.query(folder).is_folder
    user.rename(f"{folder}/small", f"{folder}/renamed")
    assert sorted((entry.name, entry.size_bytes) for entry in user.list(folder)) == [
        ("large", len(data)), ("renamed", 4 * KIB),
    ]  # fmt: skip
    for name in ("large", "renamed", "never there"):
        user.remove(f"{folder}/{name}")
    user.remove_folder(folder)
    user.remove_folder(folder)
    with pytest.raises(NoSuchFileError):
        user.list(folder)


def test_nothing_is_replaced_unless_that_is_asked_for(files):
    user, folder = files
    user.write_file(f"{folder}/one", memoryview(b"first"))
    user.write_file(f"{folder}/two", memoryview(b"second"))
    with pytest.raises(AccessDeniedError):
        user.write_file(f"{folder}/one", memoryview(b"other"))
    with pytest.raises(AccessDeniedError):
        user.rename(f"{folder}/one", f"{folder}/two")
    assert user.query(f"{folder}/two").size_bytes == 6
    user.write_file(f"{folder}/two", memoryview(b"no"), OpenMode.REPLACE)
    assert user.query(f"{folder}/two").size_bytes == 2


def test_reads_and_writes_in_the_middle_of_an_open_file(files):
    user, folder = files
    if not user.has_handles:
        with pytest.raises(UsageError, match="no open files"):
            user.open(f"{folder}/file")
        return
    data = bytearray(os.urandom(300 * KIB))
    file = user.open(f"{folder}/file", OpenMode.CREATE)
    user.write_at(file, 0, memoryview(data))
    user.write_at(file, 100 * KIB, memoryview(b"x" * 70 * KIB))
    if isinstance(user, SMBFiles):
        user.flush(file)
    assert user.read_at(file, 250 * KIB, 100 * KIB) == 50 * KIB
    assert user.read_at(file, 400 * KIB, 1) == 0
    user.close_file(file)
    free = user.free_bytes(folder)
    assert free is not None
    assert free > 0


def test_what_is_written_at_an_offset_is_what_the_server_has(smbd, make):
    user = smb_files(make, smbd)
    data = bytearray(os.urandom(3 * 1024 * KIB))
    file = user.open("pieces.bin", OpenMode.CREATE)
    user.write_at(file, 0, memoryview(data))
    data[700_000:700_010] = b"0123456789"
    user.write_at(file, 700_000, memoryview(b"0123456789"))
    user.close_file(file)
    assert (smbd.folder / "pieces.bin").read_bytes() == data
    user.remove("pieces.bin")


@pytest.mark.parametrize("options", [
    {"server signing": "mandatory"}, {"server smb encrypt": "required"}, {"server max protocol": "SMB2_02"},
])  # fmt: skip
def test_related_requests_signed_sealed_and_without_multi_credit(make_smbd, make, options):
    server = make_smbd(options)
    user = smb_files(make, server)
    user.connect()
    data = memoryview(os.urandom(64 * KIB))
    user.write_file("file", data)
    assert (server.folder / "file").read_bytes() == data
    assert user.read_file("file", len(data)) == len(data)
    user.write_file("long", memoryview(bytes(data) * 5))
    assert user.read_file("long", 5 * len(data)) == 5 * len(data)
    user.rename("file", "other")
    assert {entry.name for entry in user.list("")} == {"other", "long"}
    user.remove("other")
    user.remove("long")
    assert not list(server.folder.iterdir())


def open_paths(server: Smbd) -> set[str]:
    """The files of the share that smbd has open."""
    processes = psutil.Process(server.pid).children(recursive=True)
    return {file.path for process in processes for file in process.open_files() if str(server.folder) in file.path}


@pytest.mark.parametrize("session", [{}, {"sign": True}, {"encrypt": True}])
@pytest.mark.parametrize(("single", "exchanges"), [(False, 1), (True, 3)])
def test_small_requests_are_one_exchange_and_errors_inside_leave_nothing_open(
    smbd, make, monkeypatch, session, single, exchanges
):
    user = smb_files(make, smbd, single_requests=single, **session)
    user.write_file("first", memoryview(bytes(4096)))
    sent: list[object] = []
    push = Channel._push

    def counted(channel: Channel, parts: list[View]) -> None:
        sent.append(parts)
        push(channel, parts)

    monkeypatch.setattr(Channel, "_push", counted)
    for ask in (
        lambda: user.write_file("second", memoryview(bytes(4096))),
        lambda: user.read_file("first", 4096),
        lambda: user.query("first"),
    ):
        sent.clear()
        ask()
        assert len(sent) == exchanges
    (smbd.folder / "first").chmod(0)
    with pytest.raises(AccessDeniedError):
        user.read_file("first", 4096)
    with pytest.raises(AccessDeniedError):
        user.rename("second", "first")  # the file opens, and the request after that is refused
    assert not open_paths(smbd)
    assert user.read_file("second", 4096) == 4096
    for name in ("first", "second"):
        (smbd.folder / name).unlink()


def test_several_files_move_and_the_first_failure_comes_after_all_are_closed(files):
    user, folder = files
    sizes = {f"{folder}/f{number}": size for number, size in enumerate([4096] * 20 + [0, 65536, 65537, 300_000, 1])}
    data, moved = memoryview(os.urandom(300_000)), dict[str, int]()
    user.move_files(
        (FileMove(path, size, data[:size]) for path, size in sizes.items()),
        lambda file, count: moved.update({file.path: count}),
    )
    assert moved == sizes
    assert {f"{folder}/{entry.name}": entry.size_bytes for entry in user.list(folder)} == sizes
    moved.clear()
    wanted = [
        FileMove(path, size) for path, size in sizes.items() if size or user.has_handles
    ]  # FTP moves no empty one
    user.move_files(wanted, lambda file, count: moved.update({file.path: count}))
    assert moved == {file.path: file.size_bytes for file in wanted}
    late = iter([FileMove(f"{folder}/never there", 10), *wanted[:3], *[FileMove(f"{folder}/never there", 10)] * 50])
    with pytest.raises(NoSuchFileError):
        user.move_files(late, lambda *_: None)
    assert len(list(late)) >= 40, "no file is begun after the failure"
    assert user.read_file(f"{folder}/f1", 4096) == 4096


@pytest.mark.varied
@pytest.mark.parametrize("session", [{}, {"sign": True}, {"encrypt": True}])
@pytest.mark.parametrize(("in_flight", "single"), [(1, False), (None, False), (None, True)])
def test_as_many_files_are_under_way_as_may_be_in_flight_and_their_bytes_arrive(
    smbd, make, monkeypatch, session, in_flight, single
):
    user = smb_files(make, smbd, in_flight=in_flight, single_requests=single, **session)
    data, outstanding, receive = memoryview(os.urandom(130_000)), list[int](), Channel.receive
    user.connect()

    def noted(channel: Channel) -> Response:
        outstanding.append(channel.outstanding)
        return receive(channel)

    def refuse(*_: object) -> None:
        raise RuntimeError("cancelled")

    monkeypatch.setattr(Channel, "receive", noted)
    user.move_files((FileMove(f"f{n}", 100_000 - n, data[n:100_000]) for n in range(20)), lambda *_: None)
    assert max(outstanding) == (in_flight or 8)
    user.move_files((FileMove(f"s{n}", 500, data[n : n + 500]) for n in range(20)), lambda *_: None)
    assert max(outstanding) == (1 if single else 3) * (in_flight or 8)
    for number in range(20):
        assert (smbd.folder / f"f{number}").read_bytes() == data[number:100_000]
        assert (smbd.folder / f"s{number}").read_bytes() == data[number : number + 500]
    (smbd.folder / "f0").chmod(0)
    with pytest.raises(AccessDeniedError, match="f0"):
        user.move_files([FileMove(f"f{number}", 100_000 - number) for number in range(4)], lambda *_: None)
    with pytest.raises(RuntimeError, match="cancelled"):
        user.move_files([FileMove(f"s{number}", 500) for number in range(4)], refuse)
    assert not open_paths(smbd)
    for number in range(20):
        for kind in "fs":
            (smbd.folder / f"{kind}{number}").unlink()


def test_a_refused_login_says_so(smbd, make):
    with pytest.raises(LoginError, match="bench"):
        make(smbd.target(), Secrets(password="wrong")).connect()
    with pytest.raises(UsageError, match="which share"):
        make(replace(smbd.target(), share=None), smbd.secrets()).connect()


def in_greenlets(code: str, **variables: object) -> str:
    """What a fresh process prints that runs the code with gevent's sockets."""
    preamble = f"from gevent import monkey\nmonkey.patch_all()\nimport gevent, time\n{HANG_SECONDS = }\n"
    lines = "".join(f"{name} = {value!r}\n" for name, value in variables.items())
    done = subprocess.run(
        [sys.executable, "-c", preamble + lines + textwrap.dedent(code)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


COMMON = """
from app.clients.base import Secrets
from app.clients.registry import make_files
from app.clients.smb.files import SMBFiles
from app.base.errors import CancelledError, StalledError
from storage.plan import Settings
from storage.records import Target
"""


@pytest.mark.long
@pytest.mark.parametrize("protocol", ["smb", "ftp"])
def test_a_server_that_falls_silent_is_given_up_in_a_greenlet_too(protocol):
    """gevent's sockets never see the kernel's ticks: without a timeout of their own this waits for ever."""
    printed = in_greenlets(
        COMMON
        + """
        import socket
        listener = socket.create_server(("127.0.0.1", 0))
        target = Target(protocol=protocol, host="127.0.0.1", port=listener.getsockname()[1], share="x", path="/")
        user = make_files(target, Secrets(), Settings(timeout_seconds=1.5))
        with gevent.Timeout(HANG_SECONDS):
            try:
                user.connect()
            except Exception as error:
                print(type(error).__name__)
        """.replace("\n        ", "\n"),
        protocol=protocol,
    )
    assert printed == {"smb": StalledError.__name__, "ftp": "UnreachableError"}[protocol]


@pytest.mark.long
def test_who_thinks_longer_than_the_timeout_stays_connected_and_who_waits_longer_gives_up(make_smbd):
    """One timer looks after all channels: it ends those that wait for an answer, and no others."""
    smbd = make_smbd()
    target = smbd.target()
    smbd.make_file("small", bytes(20000))
    printed = in_greenlets(
        COMMON
        + """
        import psutil
        target = Target(protocol="smb", host=host, port=port, share=share, user=user)
        one, other = (make_files(target, Secrets(password=password), Settings(timeout_seconds=4)) for _ in range(2))
        one.connect()
        other.connect()
        channel = one._channel
        gevent.sleep(6)
        print(one.read_file("small", 20000), other.read_file("small", 20000), one._channel is channel)
        for process in processes():
            process.suspend()
        def wait(work):
            try:
                with gevent.Timeout(HANG_SECONDS):
                    work()
            except Exception as error:
                return type(error).__name__
        jobs = [
            gevent.spawn(wait, lambda: one.read_file("small", 20000)),
            gevent.spawn(wait, lambda: other.write_file("large", memoryview(bytes(50_000_000)))),
        ]
        gevent.joinall(jobs)
        for process in processes():
            process.resume()
        print(*(job.value for job in jobs))
        """.replace("\n        ", "\n").replace("processes()", f"psutil.Process({smbd.pid}).children(recursive=True)"),
        host=target.host, port=target.port, share=target.share, user=target.user, password=smbd.password,
    )  # fmt: skip
    assert printed.splitlines() == ["20000 20000 True", "StalledError StalledError"]


def test_many_users_of_one_thread_work_at_the_same_time_and_can_be_cancelled(smbd):
    target = smbd.target()
    printed = in_greenlets(
        COMMON
        + """
        target = Target(protocol="smb", host=host, port=port, share=share, user=user)
        users = [make_files(target, Secrets(password=password), Settings()) for _ in range(8)]
        def work(number):
            one = users[number]
            one.connect()
            for turn in range(5):
                path = f"many{number}.{turn}"
                one.write_file(path, memoryview(bytes(20000)))
                assert one.read_file(path, 20000) == 20000
                one.remove(path)
            return number
        jobs = [gevent.spawn(work, number) for number in range(8)]
        gevent.joinall(jobs, timeout=HANG_SECONDS, raise_error=True)
        print(sorted(job.value for job in jobs))
        def wait():
            try:
                users[0]._channel.receive()
            except CancelledError:
                return "cancelled"
        waiting = gevent.spawn(wait)
        gevent.sleep(0.1)
        users[0].abort()
        print(waiting.get(timeout=HANG_SECONDS))
        for one in users:
            one.close()
        """.replace("\n        ", "\n"),
        host=target.host, port=target.port, share=target.share, user=target.user, password=smbd.password,
    )  # fmt: skip
    assert printed.splitlines() == [str(list(range(8))), "cancelled"]
