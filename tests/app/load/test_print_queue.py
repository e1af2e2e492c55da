"""What waits at a printer share: read from what the server's own command prints, and seen on a real smbd."""

from contextlib import closing

import pytest

from app.clients.base import Secrets
from app.clients.files import call_here
from app.clients.registry import make_files
from app.load.print_queue import jobs_in
from storage.plan import Settings
from storage.target_url import format_target
from tests.command_line import Sharebench

LPQ = """\
active  root    1       u1001-1    1024 bytes
1st     root    2       u1001-2    1024 bytes
12th    root    3       u1001-3    1024 bytes
"""


@pytest.mark.parametrize(
    ("printed", "jobs"),
    [
        ("no entries\n", 0),
        ("lp is ready\nno entries\n", 0),
        (f"Rank    Owner   Job     File(s)    Total Size\n{LPQ}", 3),
        ("laser-12                root              1024   Sat Nov 21 10:00:00 2026\n", 1),
        ("Printer: laser@host\n Queue: 1 printable job\n Rank   Owner/ID\nactive root@host+1 A 1 x 9 10:00:00\n", 1),
        ("", 0),
    ],
)  # fmt: skip
def test_jobs_are_the_lines_with_a_rank(printed, jobs):
    assert jobs_in(printed) == jobs


QUEUE = """#!/bin/sh
cd {spool} || exit 1
ls | awk '{{ print NR "th daemon " NR " " $1 " 4096 bytes" }}'
[ -n "$(find . -type f -newermt '-1 second')" ] || rm -f ./*
"""
"""Tells the jobs; once none has come for a second, all are printed at once."""


def test_a_printer_share_is_waited_for_until_nothing_of_ours_waits(make_smbd, tmp_path):
    server = make_smbd()
    spool = server.root / "spool"
    spool.mkdir()
    spool.chmod(0o777)
    queue = server.root / "queue"
    queue.write_text(QUEUE.format(spool=spool))
    queue.chmod(0o755)
    server.rewrite_conf(share_options={
        "printable": "yes", "print command": f"mv %s {spool}/", "lpq command": "true", "lpq cache time": "3600",
    })  # fmt: skip
    asked = server.root / "asked.conf"  # smbd itself never looks, and so never has anything printed before we look
    asked.write_text(server.conf.read_text().replace("lpq command = true", f"lpq command = {queue}"))
    assert str(queue) in asked.read_text()
    with closing(make_files(server.target(), Secrets(password=server.password), Settings(), call_here)) as files:
        files.connect()
        files.write_file(
            "first", memoryview(b"first")
        )  # the first job has Samba start its spooler, which may take long
    sharebench = Sharebench(tmp_path / "notebook.db", password=server.password)
    options = ("--users", "2,3", "--think", "0.05", "--sizes", "4K", "--duration", "3", "--settle", "0", "--json")
    url = format_target(server.target())
    load = sharebench.json("load", url, "--scenario", "print", *options, "--smb-conf", str(asked))
    for point in load["points"]:
        assert point["status"] in {"valid", "generator"}, point["reason"]
        assert point["print_queue"]["waiting"] > 0
        assert point["print_queue"]["drained_seconds"] > 0
    assert list(spool.iterdir()) == []
