from __future__ import annotations

from app.server.host_facts import HOST_FILES, TCP_SETTINGS, client_facts, cpu_facts, host_facts

FILES = {
    "/etc/os-release": 'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n',
    "/proc/sys/kernel/osrelease": "6.1.0-18-amd64\n",
    "/proc/cpuinfo": (
        "processor\t: 0\nmodel name\t: Intel(R)  Xeon(R) CPU\nflags\t\t: fpu hypervisor\n\n"
        "processor\t: 1\nmodel name\t: Intel(R)  Xeon(R) CPU\nflags\t\t: fpu hypervisor\n"
    ),
    "/proc/meminfo": "MemTotal:       2048 kB\nMemFree:  1 kB\nMemAvailable:   1024 kB\nSwapTotal:       0 kB\n",
    "/proc/loadavg": "0.25 0.10 0.01 1/200 4242\n",
    "/proc/sys/net/ipv4/tcp_rmem": "4096\t131072\t6291456\n",
    "/proc/sys/net/ipv4/tcp_sack": "1\n",
    "/proc/sys/net/ipv4/tcp_congestion_control": "cubic\n",
}


def test_facts_of_given_files() -> None:
    assert host_facts(FILES.get) == {
        "os": "Debian GNU/Linux 12 (bookworm)",
        "kernel": "6.1.0-18-amd64",
        "cpu.model": "Intel(R) Xeon(R) CPU",
        "cpu.count": 2,
        "machine.virtual": "yes",
        "cpu.aes": "no",
        "memory_bytes": 2048 * 1024,
        "memory.available_bytes": 1024 * 1024,
        "swap_bytes": 0,
        "load.1min": 0.25,
        "tcp.rmem": "4096 131072 6291456",
        "tcp.sack": 1,
        "tcp.congestion_control": "cubic",
    }


def test_every_file_that_is_read_is_listed() -> None:
    asked: list[str] = []
    host_facts(asked.append)
    assert sorted(asked) == sorted(HOST_FILES)


def test_a_machine_that_says_nothing_has_no_facts() -> None:
    assert host_facts(lambda _: None) == {}
    assert host_facts(lambda _: "\n") == {}


def test_an_arm_machine_has_a_count_and_no_flags() -> None:
    assert cpu_facts("processor\t: 0\nprocessor\t: 1\nModel\t\t: Raspberry Pi 4\n") == {
        "cpu.count": 2,
        "cpu.model": "Raspberry Pi 4",
    }


def test_this_machine() -> None:
    facts = client_facts()
    assert int(facts["memory_bytes"]) > 0
    assert int(facts["cpu.count"]) >= 1
    assert str(facts["python.version"]).startswith("3.")
    assert set(TCP_SETTINGS) & set(facts) >= {"tcp.congestion_control", "tcp.rmem", "tcp.wmem", "tcp.window_scaling"}
    assert all(isinstance(value, str | int | float) for value in facts.values())
