"""What this machine does from second to second."""

from app.server.machine_meter import MachineMeter

DEV = "Inter-| Receive\n face |bytes\n  lo: 5 0 0 0 0 0 0 0 5 0 0 0 0 0 0 0\neth0: {} 0 0 0 0 0 0 0 {} 0 0 0 0 0 0 0\n"
SNMP = "Tcp: OutSegs RetransSegs\nTcp: 100 {}\n"


def files(idle: int, user: int, received: int, sent: int, again: int) -> dict[str, str]:
    return {
        "/proc/stat": f"cpu {user} 0 0 {idle} 0 0 0 0 0 0\nprocs_running 1\n",
        "/proc/net/dev": DEV.format(received, sent),
        "/proc/net/snmp": SNMP.format(again),
    }


def test_between_two_readings_stand_cpu_card_and_what_was_sent_again():
    there = files(0, 0, 0, 0, 7)
    times = iter([10.0, 12.0])
    meter = MachineMeter(read=there.get, clock=lambda: next(times))
    there.update(files(150, 50, 236_000_000, 2_400_000, 10))
    found = meter.now()
    assert found is not None
    assert (found.cpu_percent, found.interface, found.retransmitted) == (25.0, "eth0", 3)
    assert (found.received_bytes_per_second, found.sent_bytes_per_second) == (118e6, 1.2e6)


def test_without_a_tick_in_between_nothing_is_said_and_the_next_reading_has_all():
    there = files(100, 100, 0, 0, 0)
    times = iter([10.0, 10.005, 12.0])
    meter = MachineMeter(read=there.get, clock=lambda: next(times))
    assert meter.now() is None, "it is not 0 %"
    there.update(files(100, 101, 0, 0, 0))
    found = meter.now()
    assert found is not None
    assert found.cpu_percent == 100.0


def test_a_system_without_proc_tells_nothing():
    assert MachineMeter(read=lambda _path: None).now() is None


def test_the_card_asked_about_is_shown_however_busy_another_one_is():
    there = files(0, 0, 0, 0, 0)
    times = iter([10.0, 12.0, 14.0])
    meter = MachineMeter("lo", read=there.get, clock=lambda: next(times))
    there.update(files(50, 50, 236_000_000, 0, 0))
    found = meter.now()
    assert found is not None
    assert found.interface is None, "it moved nothing"
    there["/proc/net/dev"] = there["/proc/net/dev"].replace("lo: 5", "lo: 25")
    there["/proc/stat"] = files(100, 50, 0, 0, 0)["/proc/stat"]
    found = meter.now()
    assert found is not None
    assert (found.interface, found.received_bytes_per_second) == ("lo", 10)
