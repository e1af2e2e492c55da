"""What smbd counted while it was measured: its costliest calls, and where one operation's time goes (the waterfall).

smbd has a counter for each kind of SMB request and of system call: how often, and for how many microseconds; the
time of a request includes that of the system calls made for it. A *profile* is the growth of the counters, by their
names.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from operator import attrgetter

from storage.isolation import LayerRun, ProfileCounter

SHOWN = 10
"""How many of the costliest calls are listed."""
REQUESTS = ("smb2_", "SMB", "Trans2_")
_CALL = "syscall_"
"""What the names of smbd's counters begin with: those of requests, and those of system calls."""

_SESSION = frozenset({"smb2_negprot", "smb2_sesssetup", "smb2_logoff", "smb2_tcon", "smb2_tdis", "smb2_cancel"})
_WAITS = frozenset({"smb2_notify", "smb2_break"})
"""Requests that are no work: those of a session's begin and end, and those that wait for something to happen."""

Profile = Mapping[str, ProfileCounter]


@dataclass(frozen=True, slots=True)
class DearCall:
    """A request or system call that costs much."""

    name: str
    calls: int
    microseconds_a_call: float
    share: float
    """Of all requests' time, 0 to 1, calls included in their request; without requests, of all calls' time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileSummary:
    dearest: tuple[DearCall, ...]
    """The costliest requests and system calls, without what smbd counts as waiting."""
    waits: tuple[DearCall, ...]
    """Those with the longest waiting."""
    stat_cache_lookups: int
    stat_cache_hits: int
    read_bytes: int
    written_bytes: int
    cpu_user_microseconds: int
    cpu_system_microseconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Waterfall:
    """Where the time of one of the script's operations goes, in microseconds; the parts add up to the whole."""

    whole: float
    client: float
    """The client's own work, and its wait for a processor."""
    network: float
    """What the others leave: the way there and back, and the wait for smbd's processor."""
    protocol: float
    """smbd's work on requests, without system calls."""
    threads: float
    """The waiting of system calls for the threads that smbd hands them to."""
    file_system: float
    """The system calls themselves."""

    @property
    def not_explained(self) -> float:
        """What the parts leave of the whole; negative where they overlap, 0 where only rounding is left."""
        remainder = self.whole - self.client - self.network - self.protocol - self.threads - self.file_system
        is_rounding = abs(remainder) <= 1e-6 * self.whole
        return 0.0 if is_rounding else remainder

    @property
    def file_system_share(self) -> float:
        """Of the clients' waiting; smbd's calls of different clients overlap, so that it could be more than all."""
        wait = self.whole - self.client
        return min(1.0, self.file_system / wait) if wait > 0 else 0.0

    def parts(self) -> Mapping[str, float]:
        """The parts by the names that documents have."""
        return {
            "this client": self.client,
            "network, and smbd's turn": self.network,
            "protocol": self.protocol,
            "hand-over to threads": self.threads,
            "file system and disk": self.file_system,
            "not explained": self.not_explained,
        }


def sum_profiles(runs: Iterable[LayerRun]) -> dict[str, ProfileCounter]:
    """The counters of all runs added up, by name."""
    totals: dict[str, ProfileCounter] = {}
    for run in runs:
        for name, counter in run.profile.items():
            before = astuple(totals.get(name, ProfileCounter()))
            sums = [old + new for old, new in zip(before, astuple(counter), strict=True)]
            totals[name] = ProfileCounter(*sums)
    return totals


def _working_requests(profile: Profile) -> dict[str, ProfileCounter]:
    """The counters of requests that are work."""
    return {
        name: counter
        for name, counter in profile.items()
        if name.startswith(REQUESTS) and name not in _SESSION | _WAITS
    }


def _system_calls(profile: Profile) -> dict[str, ProfileCounter]:
    return {name: counter for name, counter in profile.items() if name.startswith(_CALL)}


def profile_summary(runs: Sequence[LayerRun]) -> ProfileSummary | None:
    """The costliest requests and system calls, and the longest waits; None where smbd counted none."""
    profile = sum_profiles(runs)
    requests = _working_requests(profile)
    calls = requests | _system_calls(profile)
    if not calls:
        return None

    all_microseconds = max(1, sum(counter.microseconds for counter in (requests or calls).values()))
    work = []
    waits = [
        _dear_call(name, profile[name], profile[name].microseconds, all_microseconds)
        for name in _WAITS & profile.keys()
    ]
    for name, counter in calls.items():
        # What smbd counts as idle in a call is waiting, and no work.
        work.append(_dear_call(name, counter, counter.microseconds - counter.idle_microseconds, all_microseconds))
        if counter.idle_microseconds:
            waits.append(_dear_call(name, counter, counter.idle_microseconds, all_microseconds))

    uncounted = ProfileCounter()
    by_share = attrgetter("share")
    return ProfileSummary(
        dearest=tuple(sorted(work, key=by_share, reverse=True)[:SHOWN]),
        waits=tuple(sorted(waits, key=by_share, reverse=True)),
        stat_cache_lookups=profile.get("statcache_lookups", uncounted).calls,
        stat_cache_hits=profile.get("statcache_hits", uncounted).calls,
        read_bytes=profile.get("smb2_read", uncounted).out_bytes,
        written_bytes=profile.get("smb2_write", uncounted).in_bytes,
        cpu_user_microseconds=profile.get("cpu_user", uncounted).microseconds,
        cpu_system_microseconds=profile.get("cpu_system", uncounted).microseconds,
    )


def _dear_call(name: str, counter: ProfileCounter, microseconds: int, whole_microseconds: int) -> DearCall:
    return DearCall(
        name=name,
        calls=counter.calls,
        microseconds_a_call=microseconds / max(1, counter.calls),
        share=microseconds / whole_microseconds,
    )


def waterfall(runs: Sequence[LayerRun]) -> Waterfall | None:
    """Where one operation's time goes, on average over the runs; None without smbd's times."""
    timed = [run for run in runs if run.profile and run.operations and run.window_requests]
    profile = sum_profiles(timed)
    requests = _working_requests(profile)
    operations = sum(sum(run.operations.values()) for run in timed)
    counted_requests = sum(counter.calls for counter in requests.values())
    served_microseconds = sum(counter.microseconds for counter in requests.values())
    if not operations or not counted_requests or not served_microseconds:
        return None

    # smbd counts for a part of the time in which the clients do. Per operation its times are, therefore, those per
    # request that it counted, times the requests per operation that the clients made.
    per_operation = sum(run.window_requests for run in timed) / operations / counted_requests
    calls = _system_calls(profile).values()
    in_files = sum(counter.microseconds - counter.idle_microseconds for counter in calls)
    in_threads = sum(counter.idle_microseconds for counter in calls)

    whole = 1e6 * sum(run.clients * run.seconds for run in timed) / operations
    wait = 1e6 * sum(run.wait_seconds for run in timed) / operations
    held_by_client = 1e6 * sum(run.client_held_seconds for run in timed) / operations
    client = max(whole - wait, held_by_client)
    return Waterfall(
        whole=whole,
        client=client,
        network=max(0.0, whole - client - served_microseconds * per_operation),
        protocol=max(0.0, (served_microseconds - in_files - in_threads) * per_operation),
        threads=in_threads * per_operation,
        file_system=in_files * per_operation,
    )
