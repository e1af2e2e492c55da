"""Diagnoses with every stage, of which tests change one thing."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from forms.audit.audited_server import AuditedServer
from forms.audit.judge import judge
from forms.diagnosis.summary import patterns
from forms.tuning.conf_file import read_conf
from storage.looks import Audit, AuditScope, Diagnosis, Stage, StageName
from storage.records import FactValue, Target

MIB = 1 << 20
ROUND_TRIP = 0.0004
LINK = 1e9


def stage(name: StageName, facts: Mapping[str, FactValue] | None = None, **samples: Sequence[float]) -> Stage:
    return Stage(name=name, facts=dict(facts or {}), samples={key: tuple(values) for key, values in samples.items()})


def connect_stage(first_seconds: float = 0.03) -> Stage:
    """Two logins of six legs; the first waits for the lookup."""
    legs = {"tcp_ipv4": 0.0005, "negotiate": 0.001, "login_1": 0.001, "login_2": 0.003, "share": 0.001}
    legs |= {"first_open": 0.001}
    samples = {f"{leg}_seconds": (seconds, seconds) for leg, seconds in legs.items()}
    asking_seconds = sum(legs.values())
    samples["echo_seconds"] = (ROUND_TRIP, ROUND_TRIP)
    samples["lookup_seconds"] = (first_seconds - asking_seconds, 0.001)
    samples["total_seconds"] = (first_seconds, asking_seconds + 0.001)
    return Stage(name=StageName.CONNECT, samples=samples)


def distance_stage(round_trip: float = ROUND_TRIP, least: float = 50e6, most: float = 110e6) -> Stage:
    facts = {"granted_bytes_in_flight": 16 * MIB, "asked_bytes_in_flight": 16 * MIB, "mtu.segment_bytes": 1448}
    return stage(
        StageName.DISTANCE,
        facts,
        echo_seconds=[round_trip] * 20,
        in_flight_65536_bytes_per_second=[least],
        in_flight_16777216_bytes_per_second=[most],
    )


def small_files_stage(
    seconds: float = 0.0024,
    round_trip: float = ROUND_TRIP,
    get_seconds: float | None = None,
    pattern_seconds: float = 0.07,
) -> Stage:
    """Forty files, each in three equal parts; ``pattern_seconds`` is what each program takes for thirty files."""
    facts: dict[str, FactValue] = {"files": 40, "streams": 8, "file_bytes": 16384, "round_trips": 3}
    facts |= {"pattern_files": 30, "put_side_by_side_seconds": 40 * seconds / 4}
    facts["get_side_by_side_seconds"] = 40 * seconds / 4
    for pattern in patterns():
        facts |= {f"{pattern.key}_put_seconds": pattern_seconds, f"{pattern.key}_get_seconds": pattern_seconds}

    samples: dict[str, Sequence[float]] = {}
    for command, each in (("put", seconds), ("get", seconds if get_seconds is None else get_seconds)):
        samples |= {f"{command}_{part}_seconds": [each / 3] * 40 for part in ("open", "data", "close")}
    return stage(StageName.SMALL_FILES, facts, echo_seconds=[round_trip] * 20, **samples)


def window_stage(free_space: float = 0.0009, quota: float = 0.0009) -> Stage:
    return stage(
        StageName.WINDOW,
        echo_seconds=[ROUND_TRIP] * 10,
        free_space_seconds=[free_space] * 20,
        quota_seconds=[quota] * 20,
        streams_seconds=[0.0008] * 20,
        notify_seconds=[0.0012] * 20,
    )


def folders_stage(ask: float = 0.0014, missing: float = 0.004, listing: float = 0.1) -> Stage:
    return stage(
        StageName.FOLDERS,
        echo_seconds=[ROUND_TRIP] * 9,
        list_1000_seconds=[0.01] * 3,
        list_10000_seconds=[listing] * 3,
        ask_10000_seconds=[ask] * 50,
        missing_1000_seconds=[0.0008] * 50,
        missing_10000_seconds=[missing] * 50,
    )


def protection_stage(rate: float = 110e6, signing: str = "none") -> Stage:
    facts = {"plain.signing": signing, "plain.encryption": "none", "client.aes": "yes"}
    return stage(
        StageName.PROTECTION,
        {**facts, "signer_bytes_per_second": 2e9 if signing != "none" else 0.0},
        plain_bytes_per_second=[rate] * 3,
        signed_bytes_per_second=[rate * 0.97] * 3,
        encrypted_bytes_per_second=[rate * 0.9] * 3,
    )


def long_run_stage(
    before: float = 110e6, after: float = 110e6, samples: int = 12, busy_percent: float | None = None
) -> Stage:
    """``busy_percent``: how busy this machine's processors were in its second half; None where nobody looked."""
    moved = [0.0]
    moments = [0.0]
    for number in range(2 * samples):
        rate = (before if number < samples else after) + number % 3
        moments.append(moments[-1] + 0.2)
        moved.append(moved[-1] + 0.2 * rate)
    run = stage(StageName.LONG_RUN, {"flush_seconds": 0.5}, at_seconds=moments, moved_bytes=moved)
    if busy_percent is None:
        return run

    all_ticks = tuple(40.0 * number for number in range(len(moments)))
    busy_ticks = tuple(busy_percent / 100 * max(0.0, passed - 40.0 * samples) for passed in all_ticks)
    return replace(run, samples={**run.samples, "busy_ticks": busy_ticks, "all_ticks": all_ticks})


def cards_stage(several: float = 105e6) -> Stage:
    return stage(
        StageName.CARDS,
        {"connections": 4, "interfaces": 1, "card.eth0.share": 1.0},
        connections_1_bytes_per_second=[100e6, 101e6, 99e6],
        connections_4_bytes_per_second=[several, several, several],
        several_busy_percent=[30.0] * 3,
    )


def audit(scope: AuditScope = AuditScope.SERVER, line: str = "log level = 1") -> Audit:
    conf = read_conf("/etc/smb.conf", {"/etc/smb.conf": f"[global]\n{line}\n[data]\npath = /srv\n"})
    findings = judge(AuditedServer(conf=conf, path="/etc/smb.conf")) if scope is AuditScope.SERVER else ()
    return Audit(
        id="ee55ee55ee55",
        created_at="2026-01-07T10:00:00.000Z",
        subject="smb://nas/public",
        scope=scope,
        findings=findings,
    )


HEALTHY = Diagnosis(
    id="dd55dd55dd55",
    created_at="2026-01-08T10:00:00.000Z",
    target=Target(protocol="smb", host="nas", share="public", user="alice"),
    link_bits_per_second=LINK,
    stages=(
        Stage(name=StageName.SETTINGS),
        connect_stage(),
        distance_stage(),
        small_files_stage(),
        window_stage(),
        folders_stage(),
        protection_stage(),
        long_run_stage(),
        cards_stage(),
    ),
    audit=audit(),
)
"""All stages, of a server that leaves nothing to complain of."""


def healthy_but(*stages: Stage, **changes: object) -> Diagnosis:
    """The healthy diagnosis with these stages in place of its own."""
    diagnosis = replace(HEALTHY, **changes)  # type: ignore[arg-type]
    for other in stages:
        diagnosis = diagnosis.with_stage(other)
    return diagnosis


def audit_of_file(text: str) -> Audit:
    """Of the output of testparm that was saved to a file."""
    conf = read_conf("testparm.txt", {"testparm.txt": text})
    return Audit(
        id="ee66ee66ee66",
        created_at="2026-01-08T11:00:00.000Z",
        subject="testparm.txt",
        scope=AuditScope.FILE,
        settings=conf.settings,
        findings=judge(AuditedServer(conf=conf, path="testparm.txt", is_copy=True)),
    )


def slow_saving(share: str = "photos") -> Diagnosis:
    """Each write takes long to be answered, as with `sync always = yes`."""
    stage = small_files_stage()
    slow = replace(stage, samples={**stage.samples, "put_data_seconds": (0.012,) * 40})
    target = replace(HEALTHY.target, share=share)
    return healthy_but(slow, complaint=StageName.SMALL_FILES, target=target)


SYNC_ALWAYS_IN_PHOTOS = "[global]\nworkgroup = OFFICE\n[photos]\npath = /p\nsync always = Yes\n[public]\npath = /q\n"
"""What testparm prints of a server, one share of which has each write reach the disk."""


def invented(dice: random.Random) -> Diagnosis:
    """Any server, from good to bad, on any path."""
    round_trip = 10 ** dice.uniform(-4, -0.5)
    rate = 10 ** dice.uniform(5, 9)
    signing = dice.choice(["none", "aes-gmac", "aes-cmac"])
    folders = folders_stage(*(10 ** dice.uniform(-3.5, -1) for _ in range(3)))
    if dice.random() < 0.5:
        folders = replace(folders, facts={"existing": "projects"})

    stages = [
        connect_stage(10 ** dice.uniform(-1.5, 1)),
        distance_stage(round_trip, rate * dice.random(), rate),
        small_files_stage(10 ** dice.uniform(-3.5, -1), round_trip, 10 ** dice.uniform(-3.5, -1)),
        folders,
        protection_stage(rate, signing),
        long_run_stage(rate, rate * dice.random()),
        cards_stage(10 ** dice.uniform(7, 8.5)),
    ]
    return healthy_but(
        *stages,
        loopback=dice.random() < 0.3,
        link_bits_per_second=dice.choice([None, 1e8, 1e9, 1e10]),
    )
