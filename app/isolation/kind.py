"""Isolations as a kind of recording: how commands and screens show, compare, judge, import and store them.

`Kind` tells what each attribute and method is for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.base.errors import UsageError
from app.recording import kind as recording_kind
from forms import layout
from storage import records
from storage.isolation import Isolation, Layer, LayerRun, isolation_from_json
from storage.json_reader import JSONNode
from storage.notebook import Notebook
from storage.recordings import ISOLATION, Recording

if TYPE_CHECKING:
    from forms.report import Report


class IsolationKind(recording_kind.Kind[Isolation]):
    name = ISOLATION
    record: type = Isolation
    resume = "isolate --resume"
    restored_by = "isolate"
    measured_fields = ("target", "runs", "script")
    has_own_runs = True

    def report(self, notebook: Notebook, head: Recording) -> "Report":
        from forms.isolation.report import isolation_report

        return isolation_report(self.read(notebook, head))

    def answer(self, notebook: Notebook, head: Recording) -> layout.Toned:
        isolation = self.read(notebook, head)
        if not isolation.runs:
            return layout.Toned(head.error or "no valid run", layout.Tone.CAUTION)

        from forms.isolation.summary import isolation_summary
        from forms.isolation.wording import verdict_sentence

        return layout.Toned(verdict_sentence(isolation_summary(isolation).verdict))

    def count_done(self, notebook: Notebook, head: Recording) -> int:
        return len({run.round for run in self.read(notebook, head).runs})

    def target(self, notebook: Notebook, head: Recording) -> records.Target:
        return self.read(notebook, head).target

    def compare(
        self, notebook: Notebook, heads: Sequence[Recording], choices: recording_kind.ComparisonChoices | None = None
    ) -> recording_kind.ComparedRecordings:
        from forms.isolation.comparison import isolation_comparison

        del choices
        base, other = self.two_of(heads)
        return recording_kind.ComparedRecordings(
            isolation_comparison(self.read(notebook, base), self.read(notebook, other))
        )

    def judge_run(
        self, notebook: Notebook, head: Recording, run: str, status: records.RunStatus, reason: str | None
    ) -> bool:
        name = _parsed_run_name(run)
        clients = name.clients if name else None
        if name and clients is None:
            # Left out, it means the only number of clients that was measured.
            numbers_of_clients = self.read(notebook, head).clients
            clients = numbers_of_clients[0] if len(numbers_of_clients) == 1 else None
        if name is None or clients is None:
            raise UsageError(
                f"a run of an isolation is named ROUND:LAYER or ROUND:LAYER:CLIENTS, such as 1:server:4; not {run!r}"
            )
        key = {
            "isolation_id": head.id,
            "round": name.round,
            "layer": name.layer,
            "clients": clients,
        }
        return notebook.judge("layer_runs", key, status.value, reason)

    def runs_of(self, record: Isolation) -> Sequence[LayerRun]:
        return record.runs

    def place_of_run(self, run: LayerRun) -> recording_kind.RunPlace:
        return (run.layer, run.clients), run.round

    def read(self, notebook: Notebook, head: Recording) -> Isolation:
        return notebook.isolation(head.id)

    def from_node(self, node: JSONNode) -> Isolation:
        return isolation_from_json(node)

    def add(self, notebook: Notebook, record: Isolation) -> None:
        notebook.add_isolation(record)


@dataclass(frozen=True, slots=True)
class _RunName:
    round: str
    layer: Layer
    clients: int | None
    """None where the name leaves them out, as an isolation of one number of clients allows."""


def _parsed_run_name(text: str) -> _RunName | None:
    """``ROUND:LAYER`` or ``ROUND:LAYER:CLIENTS``; None for anything else. The name of a layer may have a colon."""
    round_number, _, place = text.partition(":")
    layer, _, last = place.rpartition(":")
    clients = int(last) if last.isdecimal() else None
    if clients is None:
        layer = place
    if not round_number.isdecimal() or layer not in tuple(Layer):
        return None
    return _RunName(round_number, Layer(layer), clients)


ISOLATION_KIND = IsolationKind()
