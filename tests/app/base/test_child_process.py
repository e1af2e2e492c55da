"""What we start sees no password, and looks for none of our modules in the current folder."""

import ast
import contextlib
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from app.base.child_process import ChildProcess, end_input, own_command
from app.base.messages import line_of, message_of
from app.clients.programs import Subprocess
from app.practice.servers import PracticeServers
from app.recording.process import Paused
from app.server.host_facts import run_text
from app.server.shell import ServerShell
from storage.programs import PASSWORD_VARIABLE, clean_environment
from tests.waiting import HANG_SECONDS, wait_for

ROOT = Path(__file__).resolve().parents[3]
MARKER = "MARKERpw"


@pytest.fixture(autouse=True)
def password(monkeypatch):
    monkeypatch.setenv(PASSWORD_VARIABLE, MARKER)


def test_no_helper_program_inherits_the_password():
    assert MARKER not in str(clean_environment())
    assert MARKER not in (run_text("env") or MARKER)
    assert MARKER not in Subprocess().run(["env"], "here").out
    for said in (
        ServerShell().script("env", {}),
        ServerShell().run("env"),
        ServerShell().start("env").wait(HANG_SECONDS),
    ):
        assert "PATH=" in said.out
        assert MARKER not in said.out


def test_no_process_of_ours_inherits_the_password_or_looks_in_the_current_folder(tmp_path, monkeypatch, real_start):
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__init__.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    before = {child.pid for child in psutil.Process().children()}
    with PracticeServers(report_bytes=1000):
        servers = [child for child in psutil.Process().children() if child.pid not in before]
        assert len(servers) >= 2
        for server in servers:
            assert MARKER not in str(server.environ())
            assert "-P" in server.cmdline()
    assert not (tmp_path / "executed").exists()


def test_every_place_that_starts_a_process_names_its_environment():
    places = {}
    for path in (path for package in ("app", "forms", "storage") for path in (ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in {"subprocess.run", "subprocess.Popen"}:
                given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
                places[f"{path.relative_to(ROOT)}:{node.lineno}"] = given.get("env", "inherited")
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "run_program":
                given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
                places[f"{path.relative_to(ROOT)}:{node.lineno}"] = given.get("environment", "clean_environment()")
        if path.name != "child_process.py":
            assert "sys.executable" not in path.read_text(), path
    assert len(places) > 5
    assert {place: env for place, env in places.items() if "os.environ" in env or env == "inherited"} == {}


def allow_cores() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def powerless() -> list[str]:
    """What makes root one of many users, as far as other processes' memory goes."""
    if os.getuid() or not shutil.which("setpriv"):
        return []
    return ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]


def is_readable(pid: int) -> bool:
    """Whether another process of the user may read what that process knows."""
    look = [*powerless(), "cat", f"/proc/{pid}/environ"]
    return subprocess.run(look, capture_output=True, check=False).returncode == 0


def cores(folder: Path) -> list[Path]:
    return [file for file in folder.iterdir() if file.name.startswith("core")]


@pytest.fixture
def folder_of_cores(tmp_path: Path) -> Path:
    """Where a process that is aborted leaves its memory, with the password in it."""
    if resource.getrlimit(resource.RLIMIT_CORE)[1] != resource.RLIM_INFINITY:
        pytest.skip("core files are limited here")
    careless = [sys.executable, "-c", f"import os; secret = '{MARKER}'; os.abort()"]
    subprocess.run(careless, cwd=tmp_path, preexec_fn=allow_cores, check=False, capture_output=True)
    found = cores(tmp_path)
    if not found:
        pytest.skip("core files go elsewhere here")
    assert MARKER.encode() in found[0].read_bytes()
    for file in found:
        file.unlink()
    return tmp_path


@pytest.fixture
def logging_in(tmp_path, monkeypatch) -> Iterator[psutil.Process]:
    """A program that logs in at a server which lets it wait."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), PASSWORD_VARIABLE: MARKER}
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"ftp://alice@127.0.0.1:{server.getsockname()[1]}/file"
        program = subprocess.Popen(
            [*powerless(), *own_command("app", "--db", str(tmp_path / "book"), "run", url, "--quiet-time", "skip")],
            cwd=tmp_path, env=environment, preexec_fn=allow_cores, stdin=subprocess.DEVNULL,  # noqa: PLW1509
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        server.settimeout(HANG_SECONDS)
        connection, _ = server.accept()
        yield psutil.Process(program.pid)
        connection.close()
        program.kill()
        program.wait()


def test_processes_that_know_the_password_leave_no_core_file(folder_of_cores, logging_in):
    (measuring,) = logging_in.children()
    for process in (measuring, logging_in):
        process.send_signal(signal.SIGABRT)
    psutil.wait_procs([measuring, logging_in], timeout=HANG_SECONDS)
    assert cores(folder_of_cores) == []


def test_no_other_process_of_the_user_reads_their_environment(logging_in):
    careless = [*powerless(), sys.executable, "-c", "print('ready', flush=True); input()"]
    with subprocess.Popen(careless, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as plain:
        assert plain.stdout
        plain.stdout.readline()
        for pid, readable in ((plain.pid, True), (logging_in.pid, False), (logging_in.children()[0].pid, False)):
            assert is_readable(pid) is readable
        plain.kill()


@pytest.mark.varied(words=2)
@pytest.mark.parametrize(
    "words",
    [
        ("app.recording.child",),
        ("app.diagnosis.child",),
        ("app.isolation.replay_child",),
        ("app.load.process", "engine"),
        ("app.load.process", "worker"),
    ],
)
def test_no_process_that_is_told_the_password_can_be_read(words, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    command = [*powerless(), *own_command(*words)]
    nowhere = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere) as process:
        wait_for(lambda: Path(f"/proc/{process.pid}/cmdline").read_bytes().startswith(os.fsencode(sys.executable)))
        wait_for(lambda: not is_readable(process.pid))
        assert process.poll() is None
        process.kill()


def test_a_signal_in_the_middle_of_a_write_ends_the_input_after_it():
    reading, writing = os.pipe()
    pipe = os.fdopen(writing, "w")
    seen: list[bytes] = []

    def drain() -> None:
        with os.fdopen(reading, "rb") as source:
            seen.append(source.read())

    reader = threading.Thread(target=drain)

    def at_signal(*_: object) -> None:
        end_input(pipe)
        reader.start()

    before = signal.signal(signal.SIGALRM, at_signal)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        pipe.write("x" * 2**20)  # waits: nobody reads yet
        with contextlib.suppress(ValueError):
            pipe.flush()
    finally:
        signal.signal(signal.SIGALRM, before)
    reader.join(HANG_SECONDS)
    assert len(seen[0]) == 2**20


class ShellElsewhere:
    """Another machine whose login shell prints lines before the program's first message."""

    ssh = "office"

    def __init__(self, lines: int) -> None:
        self._lines = lines

    def words(self, _module: str, *_arguments: str) -> list[str]:
        return [
            "sh",
            "-c",
            'seq "$1"; printf "%s\\n" "$2"; cat',
            "sh",
            str(self._lines),
            line_of(Paused(has_all_runs=True)),
        ]


@pytest.mark.parametrize(("lines", "is_heard"), [(0, True), (100, True), (101, False)])
def test_a_greeting_of_another_machine_is_passed_over(lines: int, is_heard: bool):
    child = ChildProcess("app.recording.child", grace_seconds=HANG_SECONDS, elsewhere=ShellElsewhere(lines))
    with contextlib.closing(child):
        child.cancel()
        events = list(child.events([Paused]))
        assert events == ([Paused(has_all_runs=True)] if is_heard else [])
        assert ("no message" in child.how_it_ended()) != is_heard


def test_a_machine_that_only_greets_sent_no_message():
    child = ChildProcess("m", grace_seconds=HANG_SECONDS, elsewhere=SaysOnly("Welcome"))
    with contextlib.closing(child):
        assert list(child.events([Paused])) == []
        assert "no message" in child.how_it_ended()


class SaysOnly:
    ssh = "office"

    def __init__(self, text: str) -> None:
        self._text = text

    def words(self, _module: str, *_arguments: str) -> list[str]:
        return ["echo", self._text]


class Ends:
    """Another machine whose ssh ends as this command does."""

    ssh = "office"

    def __init__(self, script: str) -> None:
        self._script = script

    def words(self, _module: str, *_arguments: str) -> list[str]:
        return ["sh", "-c", self._script]


@pytest.mark.parametrize(
    ("script", "ending"),
    [
        ("echo closed by remote host >&2; exit 255", "on office was cut off: closed by remote host"),
        ("kill -9 $$", "on office was cut off"),
        ("exit 254", "on office ended with exit code 254"),
    ],
)
def test_a_machine_that_is_lost_is_named(script: str, ending: str):
    child = ChildProcess("m", grace_seconds=HANG_SECONDS, elsewhere=Ends(script))
    with contextlib.closing(child):
        assert list(child.events([Paused])) == []
        assert child.how_it_ended() == ending


@pytest.mark.parametrize("line", ["1", "[]", '"Paused"', '{"event": []}', '{"event": "Other"}', "Welcome", ""])
def test_what_is_no_record_is_told_by_one_kind_of_error(line: str):
    with pytest.raises(ValueError, match=r"message|JSON|Expecting"):
        message_of(line, [Paused])
