"""Another local user beside a load and an isolation that root makes: changes no number, and costs nobody a file.

At the port of a load the intruder, an unused user id, sends what locust's master and our engine listen to, in plain
ZMQ, with a key that is not the load's, and as bytes of no protocol, from the engine's start to the load's end. In the
folder of a share that is isolated, and wherever else it may, it puts folders and links in the place of ours.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psutil

from storage.records import format_target
from tests.command_line import Sharebench
from tests.reliability.figures import Clock, Figures
from tests.servers.process import as_another_user
from tests.servers.smbd import Smbd
from tests.servers.sshd import Sshd
from tests.waiting import HANG_SECONDS, wait_for

MESSAGES = 1_000
"""At least that many in each load."""
_PROCESSES = 2
_WITHIN_MINUTES = 3
_LAST_RUN_SECONDS = 180.0
"""For the run that is under way when the time is over, which waits two minutes for dbench, and for putting back."""
_SHORT = (("", "fileserver"), ("greedy", None))
"""How it goes about it, and through which host, where there is no time for all."""
_PRECIOUS = ("precious.txt", "doc00.dat")
_INTRUDER = r"""
import contextlib, itertools, json, os, socket, sys, time
import msgpack, zmq

port = int(sys.argv[1])
empty = {"counts": [], "total_microseconds": 0, "max_microseconds": 0}
fast = {"counts": [[1, 2_000_000]], "total_microseconds": 2_000_000, "max_microseconds": 1}
false = {
    "seconds": 1.0, "users": 4, "connected": 4, "requests": 200_000, "reads": 200_000, "writes": 0, "read_bytes": 10**9,
    "write_bytes": 0, "late_starts": 0, "answers": 200_000, "pauses": 200_000, "failures": 0, "failed_seconds": 0.0,
    "think_seconds": 4.0, "edge_seconds": 0.0, "silent_seconds": 0.0, "errors": {}, "first_error": "", "absent": "",
    "response": fast, "service": fast, "operations": {"read": fast}, "lateness": empty, "logins": empty,
    "cpu_percent": 0.0, "held_percent": 0.0, "given_up": 0,
}
def messages(name):
    yield "client_ready", "2.47.0"
    yield "client_ready", -1
    yield "heartbeat", None
    yield "heartbeat", {"state": "ready", "current_cpu_usage": 0}
    yield "client_stopped", None
    yield "spawning_complete", {"user_classes_count": {"FileUser": 4}, "user_count": 4}
    yield "stats", {"user_classes_count": {"FileUser": 4}}
    yield "exception", {"msg": "x", "traceback": "x"}
    for index in range(1, 5):
        for kind in ("WorkerFigures", "WorkerSecond"):
            yield kind, false | {"index": index}
        yield "sharebench", {"what": "measured", "token": "", "index": index} | false
    yield "quit", None
def plain(key):
    context = zmq.Context()
    dealer = context.socket(zmq.DEALER)
    dealer.linger = 0
    dealer.identity = name = b"intruder_%d" % time.monotonic_ns()
    if key:
        public, secret = zmq.curve_keypair()
        dealer.curve_serverkey = zmq.curve_keypair()[0]
        dealer.curve_publickey, dealer.curve_secretkey = public, secret
    dealer.connect(f"tcp://127.0.0.1:{port}")
    sent = 0
    bodies = [msgpack.dumps((kind, data, name.decode())) for kind, data in messages(name)]
    with contextlib.suppress(zmq.Again):  # the engine hung up meanwhile
        for body in (*bodies, b"\xc1\xc1\xc1", b"", b"\x93\x01\x02\x03", os.urandom(100)):
            dealer.send(body, zmq.NOBLOCK)
            sent += 1
    answered = bool(dealer.poll(100))
    dealer.close()
    context.term()
    return sent, answered
def garbage():
    greeting = b"\xff" + bytes(8) + b"\x7f\x03\x01" + b"CURVE".ljust(20, b"\0") + bytes(32)
    hello = greeting + b"\x04\xc8\x05HELLO" + bytes(194)
    bodies = [b"\xc1\xc1\xc1", os.urandom(200), greeting + os.urandom(300), hello]
    answered = False
    for body in bodies:
        with socket.create_connection(("127.0.0.1", port), 1) as connection:
            connection.sendall(body)
    return len(bodies), answered
sent = told = 0
try:
    for number in itertools.count():
        count, answered = plain(number % 2) if number % 3 else garbage()
        sent, told = sent + count, told + answered
except OSError:
    pass
print(json.dumps({"sent": sent, "told": told}))
"""


_EXCHANGER = r"""
import contextlib, itertools, os, sys, time
from pathlib import Path
greedy, share, *victims = sys.argv[1:]
share, done, tried, seen = Path(share), 0, 0, set()
for number in itertools.count():
    if os.getppid() == 1 or (share.parent / "over").exists():
        break
    time.sleep(0.001)  # hundreds of tries a second, and a processor left to what is attacked
    victim = victims[number % len(victims)]
    entries = []
    for folder in (share, share.parent):
        with contextlib.suppress(OSError):
            entries += [one for one in folder.iterdir() if one.name.startswith(".sharebench-isolate-")]
    for entry in entries:
        if entry.name.endswith("-moved") or not (greedy or entry.name.endswith("-disk")):
            continue
        for ours in (entry, entry / "work", entry / "work/clients", entry.parent) if greedy else (entry,):
            if ours in seen and not greedy:
                continue
            tried += 1
            with contextlib.suppress(OSError):
                ours.rename(ours.with_name(f"{ours.name}-{number}-moved"))
                done += 1
                seen.add(ours)
            with contextlib.suppress(OSError):
                if greedy and number % 2:
                    ours.symlink_to(victim)
                    continue
                (ours / "clients" / "client1").mkdir(parents=True)
                (ours / "clients" / "client1" / "Letters").symlink_to(victim)
                (ours / "clients" / "client2").symlink_to(victim)
                for name in ("around", "again"):
                    (ours / "clients" / "client1" / name).symlink_to(".")
print(tried, done)
"""
"""Takes the place of dbench's folder once, as was seen to have root delete files; or, greedy, of all, all the time."""


def campaign(seconds: float) -> Figures:
    """Loads of four users, and isolations, each with an intruder from its beginning to its end."""
    figures, clock = Figures(), Clock(seconds)
    with ExitStack() as stack:
        server, sshd = Smbd(), Sshd()
        for one in (server, sshd):
            stack.callback(one.stop)
            one.start()
        stack.enter_context(patch.dict(os.environ, {"PATH": f"{sshd.path}:{os.environ['PATH']}"}))
        while not figures.counts["loads"] or not clock.is_over():
            document, code, intruder = intruded_load(server)
            figures.counts["loads"] += 1
            figures.counts["messages"] += intruder["sent"]
            if wrong := falsified(document, code, intruder):
                figures.losses.append(wrong)
            for greedy, ssh in product(("", "greedy"), (None, "fileserver")) if seconds else _SHORT:
                isolated(server, figures, greedy, ssh)
    return figures


def isolated(server: Smbd, figures: Figures, greedy: str, ssh: str | None) -> None:
    """An isolation while somebody exchanges its folders, also through an sshd, and its remains restored."""
    victims = []
    for name, owner in (("root", 0), ("daemon", server.folder.stat().st_uid)):
        victim = server.root / f"precious-{name}"
        victim.mkdir(mode=0o700, exist_ok=True)
        for file in _PRECIOUS:
            (victim / file).write_text("precious")
            os.chown(victim / file, owner, owner)
        os.chown(victim, owner, owner)
        victims.append(victim)
    server.root.chmod(0o755)
    words = [*as_another_user(), sys.executable, "-c", _EXCHANGER, greedy, str(server.folder), *map(str, victims)]
    with tempfile.TemporaryDirectory(prefix="sharebench-intruder-") as folder:
        sharebench = Sharebench(Path(folder) / "n.db", server.password)
        began = time.monotonic()
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd="/") as intruder:
            isolate = sharebench.start(
                "isolate", format_target(server.target()), "--smb-conf", str(server.conf), "--clients", "2", "--rounds",
                "1", "--seconds", "2", "--within", str(_WITHIN_MINUTES), "--json",
                *(("--server-ssh", ssh) if ssh else ()),
            )  # fmt: skip
            try:
                out, error = isolate.communicate(timeout=60 * _WITHIN_MINUTES + _LAST_RUN_SECONDS)
            except subprocess.TimeoutExpired:
                isolate.kill()
                out, error = isolate.communicate()
                figures.losses.append(
                    f"isolate had not ended {_LAST_RUN_SECONDS:.0f} s after its limit: {error[-300:]}"
                )
            figures.took(time.monotonic() - began)
            (server.root / "over").touch()
            tried, exchanged = map(int, intruder.communicate(timeout=HANG_SECONDS)[0].split())
        (server.root / "over").unlink()
        restored = sharebench("restore")
    figures.counts["isolations through ssh" if ssh else "isolations"] += 1
    figures.counts["exchanges tried"] += tried
    figures.counts["folders exchanged"] += exchanged
    for victim in victims:
        if sorted(file.name for file in victim.iterdir() if file.read_text() == "precious") != sorted(_PRECIOUS):
            figures.losses.append(f"{victim.name} lost its files")
    measured = {run["layer"]: run["status"] for run in json.loads(out or "{}").get("runs", ())}
    if exchanged == 0 and measured.get("disk") != "valid":
        figures.losses.append(f"the disk was not measured: {error[-300:]}")
    left = [path for path in server.root.glob(".sharebench-*") if path.stat().st_uid == 0]
    if left:
        figures.losses.append(f"{left} stayed: {error[-300:]} {restored.stderr[-300:]}")
    for moved in server.folder.glob(".sharebench-*"):
        moved.unlink() if moved.is_symlink() else shutil.rmtree(moved)


def intruded_load(server: Smbd) -> tuple[dict[str, Any], int, dict[str, int]]:
    """The document and the exit code of a load, and what the intruder did."""
    prefix = as_another_user()
    with tempfile.TemporaryDirectory(prefix="sharebench-intruder-") as folder:
        sharebench = Sharebench(Path(folder) / "n.db", server.password)
        load = sharebench.start(
            "load", format_target(server.target()), "--users", "4", "--duration", "6", "--settle", "1", "--files", "60",
            "--ramp", "100", "--processes", str(_PROCESSES), "--json", forked=True,
        )  # fmt: skip
        port = wait_for(lambda: _port(load.pid))
        with subprocess.Popen(
            [*prefix, sys.executable, "-c", _INTRUDER, str(port)], stdout=subprocess.PIPE, text=True, cwd="/"
        ) as intruder:
            out, _err = load.communicate(timeout=HANG_SECONDS)
            told, _ = intruder.communicate(timeout=HANG_SECONDS)
    return json.loads(out or "{}"), load.returncode, json.loads(told)


def _port(pid: int) -> int:
    """The port on which the engine of a running load listens; 0 before it does."""
    for child in psutil.Process(pid).children(recursive=True):
        with suppress(psutil.Error):
            if child.cmdline()[-1:] == ["engine"]:
                for connection in child.net_connections("tcp"):
                    if connection.status == psutil.CONN_LISTEN:
                        return int(connection.laddr.port)
    return 0


def falsified(document: dict[str, Any], code: int, intruder: dict[str, int]) -> str:
    """What the intruder has reached; empty for nothing."""
    if code or not document:
        return f"the load ended with {code}"
    (point,) = document["points"]
    own = len(point["generator"]["cpu_percent"]) == _PROCESSES and point["read_bytes_per_second"] < 1e11
    whole = point["connected"] == 4 and not point["errors"] and point["status"] in {"valid", "generator"}
    if not (own and whole and abs(point["little_percent"]) < 1):
        return f"the load measured {json.dumps(point)[:500]}"
    if intruder["told"]:
        return f"the engine answered {intruder['told']} times"
    return "" if intruder["sent"] >= MESSAGES else f"only {intruder['sent']} messages were sent"
