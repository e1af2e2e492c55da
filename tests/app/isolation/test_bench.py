"""What dbench and tbench print, and programs that end with us."""

import pytest

from app.base.errors import MeasurementError
from app.isolation.bench_programs import parse_bench
from app.server.running_program import ProgramOutcome
from app.server.shell import ServerShell
from app.server.smbd import ProcessorQuota, SmbdControl, parse_quota
from storage.isolation import ProfileCounter
from tests.waiting import HANG_SECONDS, has_ended, wait_for

PRINTED = """dbench version 4.00 - Copyright Andrew Tridgell 1999-2004

Running for 2 seconds with load 'x' and minimum warmup 0 secs
failed to create barrier semaphore
   2     28869   656.34 MB/sec  execute   1 sec  latency 8.694 ms
   2     57869   650.34 MB/sec  execute   2 sec  latency 8.694 ms
   2  cleanup   2 sec

 Operation      Count    AvgLat    MaxLat
 ----------------------------------------
 NTCreateX      26289     0.020     5.521
 Qpathinfo      21953     0.022     5.712
 Find            7565     0.020     5.670

Throughput 656.344 MB/sec  2 clients  2 procs  max_latency=8.694 ms
"""


def test_rate_time_and_counts_are_read():
    found = parse_bench(ProgramOutcome(0, PRINTED, ""), "dbench", 3)
    assert found.bytes_per_second == 656_344_000
    assert found.seconds == 3, "the time that the rate is of, whatever line came last"
    assert found.longest_seconds == pytest.approx(0.008694)
    assert found.operations == {"ntcreatex": 26289, "query_path_information": 21953, "find_first": 7565}
    assert found.complaints == ()


def test_failures_are_told_although_it_ends_well():
    line = "[3] open ./clients/client1/x failed for handle 10 (No space left on device)"
    assert parse_bench(ProgramOutcome(0, f"{line}\n{PRINTED}", ""), "dbench", 3).complaints == (line,)
    with pytest.raises(MeasurementError, match=r"dbench gave no result: .*No space"):
        parse_bench(ProgramOutcome(1, line, ""), "dbench", 3)


def test_a_program_ends_with_all_that_it_started_when_nobody_listens_any_more():
    program = ServerShell().start("sh", "-c", "sleep 321 & echo $!; sleep 322")
    child = int(program.line())
    program.hang_up()
    program.wait(HANG_SECONDS)
    wait_for(lambda: has_ended(child))


def test_what_a_program_prints_need_be_no_text():
    assert ServerShell().start("printf", "caf\\351").wait(HANG_SECONDS).out == "caf\ufffd"


def test_a_program_that_is_not_there_says_so():
    shell = ServerShell()
    assert shell.run("sharebench-nonesuch").code == 127
    assert not shell.has("sharebench-nonesuch")
    assert "dbench" in shell.how_to_install("dbench")


@pytest.mark.parametrize(
    ("printed", "quota"),
    [
        ("limit max 100000\nnr_periods 0\n", ProcessorQuota()),
        ("limit 20000 100000\nnr_periods 5\nnr_throttled 4\n", ProcessorQuota(processors=0.2, periods=5, throttled=4)),
        ("limit -1 100000\nnr_periods 0\nnr_throttled 0\n", ProcessorQuota()),
        ("", ProcessorQuota()),
    ],
)  # fmt: skip
def test_the_quota_of_a_control_group_is_read(printed: str, quota: ProcessorQuota):
    assert parse_quota(printed) == quota


def test_throttling_is_what_happened_in_between():
    before = ProcessorQuota(processors=0.2, periods=10, throttled=5)
    after = ProcessorQuota(processors=0.2, periods=30, throttled=20)
    assert after.throttled_percent_since(before) == 75
    assert ProcessorQuota(periods=30).throttled_percent_since(ProcessorQuota()) is None


def test_counters_that_are_written_late_are_waited_for(monkeypatch: pytest.MonkeyPatch):
    before = {"smb2_read": ProfileCounter(calls=5), "smb2_write": ProfileCounter(calls=2)}
    one_of_two = before | {"smb2_read": ProfileCounter(calls=8)}
    all_of_them = {"smb2_read": ProfileCounter(calls=11), "smb2_write": ProfileCounter(calls=4)}
    looks = iter([{"smb2_read": ProfileCounter(calls=1)}, before, one_of_two, all_of_them])
    monkeypatch.setattr(SmbdControl, "profile", lambda _: next(looks))
    found = SmbdControl(ServerShell(), None).grown_since(before, 8)
    assert {name: counter.calls for name, counter in found.items()} == {"smb2_read": 6, "smb2_write": 2}


def test_counters_that_smbd_does_not_have_are_not_waited_for_long(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("app.server.smbd.LATE_SECONDS", 0.0)
    monkeypatch.setattr(SmbdControl, "profile", lambda _: {})
    assert SmbdControl(ServerShell(), None).grown_since({"smb2_read": ProfileCounter(calls=5)}, 8) == {}
