"""smbd's profile of the server layer: the dearest calls, what only waited, and one operation's time from end to end."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass

from storage.isolations import LayerRun, ProfileCounter

SHOWN = 10
_REQUESTS, _CALL = ("smb2_", "SMB", "Trans2_"), "syscall_"
"""How the names of counters begin: of requests of SMB2, SMB1 and its transactions, and of calls of the file system."""
_SESSION = frozenset({"smb2_negprot", "smb2_sesssetup", "smb2_logoff", "smb2_tcon", "smb2_tdis", "smb2_cancel"})
"""Requests that begin and end a session: no part of the script."""
_WAITS = frozenset({"smb2_notify", "smb2_break"})
"""Requests that are answered when something else happens: their time is no work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DearCall:
    """One counter of the profile."""

    name: str
    calls: int
    microseconds_a_call: float
    share: float
    """Of the time of all requests of the script, 0 to 1; what is called inside a request is a part of it. Of the time
    of all calls where requests were not counted."""

    @property
    def is_request(self) -> bool:
        return self.name.startswith(_REQUESTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileSummary:
    """What smbd counted during the server layer, all rounds together."""

    dearest: tuple[DearCall, ...]
    waits: tuple[DearCall, ...]
    stat_cache_lookups: int
    stat_cache_hits: int
    read_bytes: int
    written_bytes: int
    cpu_user_microseconds: int
    cpu_system_microseconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Waterfall:
    """Where the time of one operation of the script goes, in microseconds; the parts add up to the whole."""

    whole: float
    client: float
    """This client's own work, and its wait for a processor of its machine."""
    network: float
    """What is left of the wait beyond smbd's own time: the way there and back, and the wait for its processor."""
    protocol: float
    threads: float
    file_system: float

    @property
    def not_explained(self) -> float:
        """What the parts leave of the whole, or have too much."""
        left = self.whole - self.client - self.network - self.protocol - self.threads - self.file_system
        return left if abs(left) > 1e-6 * self.whole else 0.0

    @property
    def file_system_share(self) -> float:
        wait = self.whole - self.client
        return self.file_system / wait if wait > 0 else 0.0

    def parts(self) -> Mapping[str, float]:
        return {
            "this client": self.client,
            "network, and smbd's turn": self.network,
            "protocol": self.protocol,
            "hand-over to threads": self.threads,
            "file system and disk": self.file_system,
            "not explained": self.not_explained,
        }


def summed(runs: Sequence[LayerRun]) -> dict[str, ProfileCounter]:
    """The counters of several runs added up."""
    found: dict[str, ProfileCounter] = {}
    for run in runs:
        for name, counter in run.profile.items():
            before = astuple(found.get(name, ProfileCounter()))
            found[name] = ProfileCounter(*(a + b for a, b in zip(before, astuple(counter), strict=True)))
    return found


def _requests(profile: Mapping[str, ProfileCounter]) -> dict[str, ProfileCounter]:
    left_out = _SESSION | _WAITS
    return {name: one for name, one in profile.items() if name.startswith(_REQUESTS) and name not in left_out}


def profile_summary(runs: Sequence[LayerRun]) -> ProfileSummary | None:
    """The profile of these runs; None where smbd did not count."""
    profile = summed(runs)
    requests = _requests(profile)
    calls = requests | {name: one for name, one in profile.items() if name.startswith(_CALL)}
    if not calls:
        return None
    whole = max(1, sum(one.microseconds for one in (requests or calls).values()))
    work = [_call(name, one, one.microseconds - one.idle_microseconds, whole) for name, one in calls.items()]
    waits = [_call(name, profile[name], profile[name].microseconds, whole) for name in _WAITS & profile.keys()]
    waits += [_call(name, one, one.idle_microseconds, whole) for name, one in calls.items() if one.idle_microseconds]
    none = ProfileCounter()
    return ProfileSummary(
        dearest=tuple(sorted(work, key=lambda one: -one.share)[:SHOWN]),
        waits=tuple(sorted(waits, key=lambda one: -one.share)),
        stat_cache_lookups=profile.get("statcache_lookups", none).calls,
        stat_cache_hits=profile.get("statcache_hits", none).calls,
        read_bytes=profile.get("smb2_read", none).out_bytes,
        written_bytes=profile.get("smb2_write", none).in_bytes,
        cpu_user_microseconds=profile.get("cpu_user", none).microseconds,
        cpu_system_microseconds=profile.get("cpu_system", none).microseconds,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CallChange:
    """One counter in two profiles; absent where one of them has it not."""

    name: str
    before: ProfileCounter | None
    after: ProfileCounter | None

    @property
    def seconds(self) -> float:
        before, after = self.before or ProfileCounter(), self.after or ProfileCounter()
        return (after.microseconds - before.microseconds) / 1e6


def profile_changes(before: Sequence[LayerRun], after: Sequence[LayerRun]) -> tuple[CallChange, ...]:
    """Requests and calls in the profiles of two isolations, those that changed most first; none without two."""
    first, second = summed(before), summed(after)
    if not first or not second:
        return ()
    names = [name for name in first | second if name.startswith((*_REQUESTS, _CALL)) and name not in _SESSION | _WAITS]
    changes = [CallChange(name=name, before=first.get(name), after=second.get(name)) for name in names]
    return tuple(sorted(changes, key=lambda one: (one.before is None or one.after is None, -abs(one.seconds))))


def _call(name: str, counter: ProfileCounter, microseconds: int, whole: int) -> DearCall:
    return DearCall(
        name=name,
        calls=counter.calls,
        microseconds_a_call=microseconds / max(1, counter.calls),
        share=microseconds / whole,
    )


def waterfall(runs: Sequence[LayerRun]) -> Waterfall | None:
    """One operation's time over these runs; None where smbd did not time its requests.

    The profile spans whole sessions and the clients' times the part that counts, so smbd's times are taken by the
    request and multiplied by the requests that an operation takes.
    """
    timed = [run for run in runs if run.profile and run.operations and run.window_requests]
    profile = summed(timed)
    requests = _requests(profile)
    operations = sum(sum(run.operations.values()) for run in timed)
    counted = sum(one.calls for one in requests.values())
    served = sum(one.microseconds for one in requests.values())
    if not operations or not counted or not served:
        return None
    each = sum(run.window_requests for run in timed) / operations / counted
    calls = [one for name, one in profile.items() if name.startswith(_CALL)]
    in_files = sum(one.microseconds - one.idle_microseconds for one in calls)
    in_threads = sum(one.idle_microseconds for one in calls)
    whole = 1e6 * sum(run.clients * run.seconds for run in timed) / operations
    wait = 1e6 * sum(run.wait_seconds for run in timed) / operations
    held = 1e6 * sum(run.client_held_seconds for run in timed) / operations
    client = max(whole - wait, held)
    return Waterfall(
        whole=whole,
        client=client,
        network=max(0.0, whole - client - served * each),
        protocol=max(0.0, (served - in_files - in_threads) * each),
        threads=in_threads * each,
        file_system=in_files * each,
    )
