"""One recording of every kind, and a kind that exists in the tests alone."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from app.recording.kind import KINDS, Kind
from forms.layout import Toned
from forms.report import Field, Report
from storage.changes import ChangeKind, Slot, TrialPlan
from storage.isolation import CPUUse, Isolation, Layer, LayerRun, ProfileCounter
from storage.json_reader import Count, Filled, Moment
from storage.looks import Audit, AuditScope, Diagnosis, Stage, StageName, recording_of
from storage.notebook import Notebook
from storage.plan import Settings
from storage.quick.records import recording_of_quick
from storage.recordings import Recording, to_recording
from storage.records import Change, ClientFacts, Command, Experiment, ExperimentKind, SeriesStatus, Spread, Target
from storage.watch.records import Watch, recording_of_watch
from storage.who import MachineUse, ServerSession, Who, recording_of_who
from tests.builders import one
from tests.loads import full_load
from tests.quick_tests import quick_test

SPREAD = Spread(mean=1.5, median=1.0, deviation=0.25)
RUN = LayerRun(
    round=1, layer=Layer.SERVER, clients=4, seconds=5.0, bytes_per_second=1e6, operations={"readx": 3},
    requests={"read": 3}, server_cpu=CPUUse(user=SPREAD, system=SPREAD, total=SPREAD, samples=5),
    processes={"server": 40.0}, profile={"smb2_read": ProfileCounter(calls=3, microseconds=20)},
)  # fmt: skip
ISOLATION = Isolation(
    id="aa11", created_at="2026-01-31T10:00:00.000Z", target=Target(protocol="smb", host="h", share="s"),
    script="office", clients=(1, 4), rounds=2, seconds=5, ceilings={4: 9000.5}, settings=Settings(sign=True),
    client=ClientFacts(name="sharebench", dialect="3.1.1"), problems=("no dbench",), without=("find_first",),
)  # fmt: skip


DATE = "2026-01-05 10:00:00"


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighing:
    """A recording of a kind that nobody needs: how heavy a server is."""

    id: Filled
    created_at: Moment
    status: SeriesStatus = SeriesStatus.INTERRUPTED
    error: str | None = None
    label: str = ""
    note: str = ""
    question: str = ""
    host: str
    kilograms: tuple[Count, ...] = field(default_factory=tuple)


class WeighingKind(Kind[Weighing]):
    name = "weighing"
    record: type = Weighing
    resume = "weigh --resume"

    def report(self, notebook: Notebook, head: Recording) -> Report:
        weighing = self.read(notebook, head)
        return Report(
            form="weighing",
            title=f"Weight of {weighing.host}",
            name="Weighing",
            fields=(Field(name="Host", text=weighing.host), Field(name="Note", text=weighing.note)),
            results=(Field(name="Weight", text=f"{max(weighing.kilograms)} kg"),),
            document=lambda: {
                "schema": "sharebench/weighing/1",
                **{name: getattr(weighing, name) for name in Weighing.__dataclass_fields__},
            },
        )

    def answer(self, notebook: Notebook, head: Recording) -> Toned:
        return Toned(f"{max(self.read(notebook, head).kilograms)} kg")

    def count_done(self, notebook: Notebook, head: Recording) -> int:
        return len(self.read(notebook, head).kilograms)


WEIGHING = WeighingKind()


@contextmanager
def made_up_kind() -> Iterator[WeighingKind]:
    """A block in which there is that kind: its class is all that it takes."""
    KINDS.add(WEIGHING)
    try:
        yield WEIGHING
    finally:
        KINDS.remove(WEIGHING.name)


def _series(notebook: Notebook) -> str:
    notebook.add(one(1))
    return f"{1:012x}"


def _load(notebook: Notebook) -> str:
    notebook.add_load(full_load())
    return full_load().id


def _isolation(notebook: Notebook) -> str:
    notebook.add_isolation(replace(ISOLATION, id="aa11aa11aa11", runs=(RUN,)))
    return "aa11aa11aa11"


def _made_of_series(kind: ExperimentKind, count: int) -> Callable[[Notebook], str]:
    def make(notebook: Notebook) -> str:
        name = f"{kind} strict sync nas {DATE}"
        recording_id = notebook.add_experiment(
            Experiment(name=name, kind=kind, subject="nas", created_at="2026-01-05T10:00:00.000Z")
        )
        assert recording_id
        changed = kind in {ExperimentKind.TRIAL, ExperimentKind.SWEEP}
        for number in range(count):
            change = Change(name="strict sync", value=f"v{number}", previous="yes") if changed and number else None
            notebook.add(
                one(
                    5 + number,
                    (100e6 + number * 1e5,) * 6,
                    experiment=name,
                    change=change,
                    command=Command.PUT if kind is ExperimentKind.SURVEY and number else Command.GET,
                )
            )
        if changed:
            values = tuple(f"v{number}" for number in range(1, count))
            plan = TrialPlan(
                kind=ChangeKind.SMB_CONF, name="strict sync", previous="yes", values=values, looks=(6,), seed=7
            )
            notebook.set_trial(name, plan)
            places = ((turn, arm) for turn in range(1, 7) for arm in range(count)[:: 1 if turn % 2 else -1])
            for position, (turn, arm) in enumerate(places):
                slot = Slot(series_id=f"{5 + arm:012x}", number=turn, position=position, control_seconds=0.01)
                notebook.add_slot(slot)
        return recording_id

    return make


def _audit(notebook: Notebook) -> str:
    made = Audit(id="cc33cc33cc33", created_at="2026-01-07T10:00:00.000Z", subject="nas", scope=AuditScope.FILE)
    notebook.add_recording(recording_of(made))
    return made.id


DIAGNOSIS = Diagnosis(
    id="dd44dd44dd44", created_at="2026-01-08T10:00:00.000Z", target=ISOLATION.target, folder="d",
    stages=(
        Stage(
            name=StageName.CONNECT, samples={"total_seconds": (3.25, 1.5), "lookup_seconds": (3.0, 0.01)}, seconds=4.0
        ),
        Stage(name=StageName.CARDS, status=SeriesStatus.FAILED, error="the link is down"),
    ),
)  # fmt: skip


def _diagnosis(notebook: Notebook) -> str:
    notebook.add_recording(recording_of(DIAGNOSIS))
    return DIAGNOSIS.id


def _watch(notebook: Notebook) -> str:
    at = "2026-01-08T10:00:00.000Z"
    made = Watch(
        id="ee55ee55ee55", created_at=at, subject="smb://nas/data/big.bin", baseline="nightly", command=Command.GET,
        since=at, attempted_at=at,
    )  # fmt: skip
    notebook.add_recording(recording_of_watch(made))
    return made.id


WHO = Who(
    id="ff66ff66ff66",
    created_at="2026-01-09T10:00:00.000Z",
    status=SeriesStatus.COMPLETE,
    target=Target(protocol="smb", host="nas"),
    seconds=10.0,
    machine=MachineUse(
        processors=4,
        cpu_percent=35.0,
        card="eth0",
        card_bits_per_second=40e6,
        link_bits_per_second=1_000_000_000,
        disk="sda",
        disk_percent=12.5,
    ),
    sessions=(
        ServerSession(
            process=1101,
            users=("NT\\alice",),
            client="10.0.0.5",
            machine="ws-alice",
            connected_at="2026-01-09T08:30:00.000Z",
            dialect="SMB3_11",
            cpu_percent=8.0,
            sent_bytes=39_000_000,
            received_bytes=1_000_000,
            disk_bytes=4096,
            open_files=3,
            locks=1,
        ),
        ServerSession(
            process=1102,
            users=("bob", "carol"),
            client="10.0.0.6",
            connected_at="2026-01-09T09:59:30.000Z",
            dialect="SMB3_11",
            cpu_percent=1.5,
            sent_bytes=500_000,
            received_bytes=9_500_000,
        ),
    ),
    ended=1,
    look_cpu_seconds=0.06,
)


def _who(notebook: Notebook) -> str:
    notebook.add_recording(recording_of_who(WHO))
    return WHO.id


def _quick(notebook: Notebook) -> str:
    made = quick_test()
    notebook.add_recording(recording_of_quick(made))
    return made.id


def _weighing(notebook: Notebook) -> str:
    made = Weighing(
        id="bb22bb22bb22", created_at="2026-01-06T10:00:00.000Z", status=SeriesStatus.COMPLETE, host="nas",
        kilograms=(12, 14),
    )  # fmt: skip
    notebook.add_recording(to_recording(made, WEIGHING.name, subject="nas"))
    return made.id


MAKERS: dict[str, Callable[[Notebook], str]] = {
    "series": _series,
    "load": _load,
    "isolation": _isolation,
    "trial": _made_of_series(ExperimentKind.TRIAL, 2),
    "sweep": _made_of_series(ExperimentKind.SWEEP, 3),
    "survey": _made_of_series(ExperimentKind.SURVEY, 2),
    "selftest": _made_of_series(ExperimentKind.SELFTEST, 2),
    "repeats": _made_of_series(ExperimentKind.REPEATS, 3),
    "audit": _audit,
    "diagnosis": _diagnosis,
    "watch": _watch,
    "quick": _quick,
    "who": _who,
    "weighing": _weighing,
}
"""Stores one recording of the kind, and gives its id."""


def lose_series(notebook: Notebook, lost: Sequence[Recording], status: str) -> None:
    """Take series out of what they are parts of; all that is left has that status."""
    for part in lost:
        for table in ("series", "recordings"):
            notebook._db.execute(f"DELETE FROM {table} WHERE id = ?", (part.id,))
    notebook._db.execute("UPDATE recordings SET status = ?", (status,))
