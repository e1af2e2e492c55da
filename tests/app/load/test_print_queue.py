"""What waits at a printer share: read from what the server's own command prints, and seen on a real smbd."""

from contextlib import closing

import pytest

from app.clients.base import Secrets, call_here
from app.clients.registry import make_files
from app.load.looks.print_queue import NOT_TAKEN, PrinterShare, jobs_in, newest_job_in, with_jobs_refused
from storage.plan import Settings
from storage.records import format_target
from tests import loads
from tests.command_line import Inside
from tests.servers.process import require

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


@pytest.mark.long
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
    sharebench = Inside(tmp_path / "notebook.db", password=server.password)
    options = ("--users", "2,3", "--think", "0.2", "--sizes", "4K", "--duration", "3", "--settle", "0", "--json")
    url = format_target(server.target())
    load = sharebench.json("load", url, "--scenario", "print", *options, "--smb-conf", str(asked))
    for point in load["points"]:
        assert point["status"] in {"valid", "generator"}, point["reason"]
        assert point["print_queue"]["waiting"] > 0
        assert point["print_queue"]["drained_seconds"] > 0
    assert list(spool.iterdir()) == []


LPSTAT = """#!/bin/sh
echo "$@" >> {folder}/asked
for word; do [ "$word" = nobody ] && exit 1; done
for word; do [ "$word" = all ] && seq -f 'laser-%g  root  1024  Sat' 97 "$(cat {folder}/newest)"; done
echo 'laser-96   root   1024   Sat Nov 21 10:00:00 2026'
"""
CUPS_CONF = """[global]
    printing = cups
    cups server = printhost:6310
    lpq command = false
[printers]
    path = /tmp
    printable = yes
[office]
    path = /tmp
    printable = yes
    printer name = laser
[files]
    path = /tmp
"""


def test_with_cups_its_own_server_is_asked_for_the_share_s_printer(tmp_path, monkeypatch):
    require("testparm")
    lpstat, conf, newest = tmp_path / "lpstat", tmp_path / "smb.conf", tmp_path / "newest"
    lpstat.write_text(LPSTAT.format(folder=tmp_path))
    lpstat.chmod(0o755)
    conf.write_text(CUPS_CONF)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def printer(share):
        return PrinterShare(share, str(conf), None)

    assert printer("office").waiting() == 1
    assert (tmp_path / "asked").read_text() == "-h printhost:6310 -W not-completed -o laser\n"
    assert printer("laser").waiting() == 1, "a printer without a section is one of [printers]"
    assert printer("files").waiting() is None
    assert printer("nobody").waiting() is None
    office = printer("office")
    newest.write_text("120")
    office.count_from_here()
    newest.write_text("150")
    assert office.taken() == 30


def test_without_cups_nobody_says_how_many_jobs_were_taken(tmp_path):
    require("testparm")
    conf = tmp_path / "smb.conf"
    conf.write_text("[laser]\n path = /tmp\n printable = yes\n printing = bsd\n lpq command = echo laser-7\n")
    printer = PrinterShare("laser", str(conf), None)
    printer.count_from_here()
    assert printer.taken() is None


def test_the_newest_job_is_the_one_with_the_highest_number():
    assert newest_job_in("laser-9  a 1 x\nlaser-12  a 1 x\nnew-hall-11  a 1 x\n") == 12
    assert newest_job_in("") is None


def slow_printer(monkeypatch: pytest.MonkeyPatch, jobs: list[int | None]) -> PrinterShare:
    """A printer share at which so many jobs wait each time that one looks, and a clock that runs on by 500 s each."""
    clock = iter(range(0, 500_000, 500))
    monkeypatch.setattr("app.load.looks.print_queue.time.monotonic", lambda: float(next(clock)))
    monkeypatch.setattr("app.load.looks.print_queue.time.sleep", lambda _: None)
    monkeypatch.setattr(PrinterShare, "waiting", lambda _: jobs.pop(0))
    return PrinterShare("laser", "smb.conf", None)


def test_a_queue_is_waited_for_as_long_as_it_takes_and_told_of_meanwhile(monkeypatch: pytest.MonkeyPatch):
    found = list(slow_printer(monkeypatch, [5, 4, 3, 2, 1, 0]).drained(0.0, lambda: False))
    assert [queue.left for queue in found] == [5, 4, 3, 2, 1, 0]
    assert [queue.drained_seconds for queue in found[:-1]] == [None] * 5
    assert (found[-1].waiting, found[-1].drained_seconds) == (5, 2500.0)


def test_whoever_has_enough_ends_the_wait_and_keeps_what_was_seen(monkeypatch: pytest.MonkeyPatch):
    had_enough = iter([False, True])
    (_, last) = slow_printer(monkeypatch, [5, 4, 3]).drained(0.0, lambda: next(had_enough))
    assert (last.waiting, last.left, last.drained_seconds) == (5, 4, None)
    stops_telling = slow_printer(monkeypatch, [5, None])
    assert [queue.left for queue in stops_telling.drained(0.0, lambda: False)] == [5]


def test_jobs_that_cups_refused_after_smbd_took_them_are_errors():
    handed_over = loads.point(requests=90, errors={"connection lost": 1})
    found = with_jobs_refused(handed_over, 30)
    assert found.errors == {"connection lost": 1, NOT_TAKEN: 60}
    assert found.first_error.startswith("CUPS took 30 of 90 jobs")
    assert with_jobs_refused(handed_over, 90) == with_jobs_refused(handed_over, None) == handed_over
