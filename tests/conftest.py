"""The fixtures that all tests may use."""

import gc
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from app.base import child_process
from app.recording import ceiling
from tests import fork_server, signals
from tests.servers.fixtures import (
    empty_shared_folders,
    iperf3_server,
    make_link,
    make_smbd,
    make_vsftpd,
    place,
    small_disk,
    smbd,
    sshd,
    through,
    vsftpd,
)
from tests.servers.machines import common_address, machines, two_hosts
from tests.skipped import pytest_runtest_makereport, pytest_unconfigure

os.environ["TZ"] = "UTC"  # before anything is shown, and for every process that a test starts
time.tzset()
os.environ["PATH"] = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"  # where a user's PATH lacks ip and smbd
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # its threads wait for work by spinning
os.environ["LOCUST_SKIP_MONKEY_PATCH"] = "1"  # the engine's process patches itself; pytest's must keep its threads

os.environ.pop("PYTEST_ADDOPTS", None)  # meant for these tests, not for a pytest that one of them starts
signals.start_programs_as_at_a_terminal()

TESTS = Path(__file__).parent

settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")  # what is right does not become wrong where a machine is slow

__all__ = [
    "common_address",
    "iperf3_server",
    "machines",
    "make_link",
    "make_smbd",
    "make_vsftpd",
    "place",
    "pytest_runtest_makereport",
    "pytest_unconfigure",
    "small_disk",
    "smbd",
    "sshd",
    "through",
    "two_hosts",
    "vsftpd",
]


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Sets this process's time zone for one test."""

    def set_to(name: str) -> None:
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield set_to
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--part", metavar="K/N", help="run the Kth of N parts of the selected tests")
    parser.addoption(
        "--part-of-long", metavar="K/N", help="of the selected tests that are long, run the Kth of N parts"
    )


def part_of(items: list[pytest.Item], part: str) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Those of the part, and the others: each test is in exactly one of N parts."""
    number, count = map(int, part.split("/"))
    if not 1 <= number <= count:
        raise pytest.UsageError(f"--part {part}: K/N is a part K from 1 to N, such as 2/4")
    mine = set(sorted(set(map(unit_of, items)))[number - 1 :: count])
    return [item for item in items if unit_of(item) in mine], [item for item in items if unit_of(item) not in mine]


def unit_of(item: pytest.Item) -> str:
    """What is not divided between parts: a test, or all of a module whose tests share what takes long to make."""
    return item.nodeid if item.get_closest_marker("undivided") is None else str(item.path)


def is_long(item: pytest.Item) -> bool:
    return item.get_closest_marker("long") is not None


def pytest_itemcollected(item: pytest.Item) -> None:
    """Of the variations of a test that is varied the first is quick, or as many of an argument as the mark says."""
    varied = item.get_closest_marker("varied")
    callspec = getattr(item, "callspec", None)
    if varied is None or callspec is None:
        return
    quick_counts = varied.kwargs or dict.fromkeys(callspec.indices, 1)
    if any(callspec.indices[argument] >= count for argument, count in quick_counts.items()):
        item.add_marker("long")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes longest comes first. Tests of screens, which mostly wait, alternate with those that only compute."""
    others: list[pytest.Item] = []
    if part := config.getoption("--part"):
        items[:], others = part_of(items, part)
    elif part := config.getoption("--part-of-long"):
        _, others = part_of([item for item in items if is_long(item)], part)
        left_out = set(others)
        items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=others)

    order: list[list[pytest.Item]] = [[], [], []]
    for item in items:
        folders = item.path.relative_to(TESTS).parts
        fixtures = item._fixtureinfo.name2fixturedefs.values() if isinstance(item, pytest.Function) else ()
        shares_a_fixture = any(found[-1].scope == "module" for found in fixtures)
        order[1 if "tui" in folders[:2] else 0 if "app" in folders[:1] or shares_a_fixture else 2].append(item)
    first, waiting, computing = order
    first.sort(key=is_long, reverse=True)
    place = {item: (n + 0.5) / len(group) for group in (waiting, computing) for n, item in enumerate(group)}
    items[:] = first + sorted(waiting + computing, key=place.__getitem__)


def pytest_collection() -> None:
    """Nothing that is loaded from here on becomes garbage soon."""
    gc.disable()


def pytest_collection_finish() -> None:
    """What is loaded now stays: the garbage collector need not look through it again and again."""
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)  # what a test leaves is little: a tenth of the time went into looking for it
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """After the last test of a module in a row."""
    if nextitem is not None and nextitem.path != item.path:
        empty_shared_folders()


@pytest.fixture(scope="session", autouse=True)
def no_settings_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The settings files of whoever runs the tests do not count."""
    os.environ["XDG_CONFIG_HOME"] = str(tmp_path_factory.mktemp("config"))
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture
def known_ceiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client's own limit is not calibrated anew, which takes seconds of both processors: it is as good as none."""
    monkeypatch.setattr(ceiling, "_calibrate", lambda *_: ceiling.Calibration(bytes_per_second=1e12))


@pytest.fixture(scope="session")
def forking() -> Iterator[dict[str, fork_server.ForkServer]]:
    """The servers that this process of the tests has, started in its main thread."""
    if not fork_server.possible():
        yield {}
        return
    servers = {fork_server.PLAIN: fork_server.ForkServer(fork_server.PLAIN)}
    yield servers
    for server in servers.values():
        server.close()


@pytest.fixture
def forked(
    request: pytest.FixtureRequest, forking: dict[str, fork_server.ForkServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The product's processes are forked from one that has loaded everything, but what is marked ``alone``."""
    if not request.node.get_closest_marker("alone"):
        monkeypatch.setattr(fork_server, "servers", forking)
        monkeypatch.setattr(child_process, "subprocess", fork_server.FORKING)


@pytest.fixture
def real_start(forked: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes are started as users start them."""
    monkeypatch.setattr(fork_server, "servers", {})
