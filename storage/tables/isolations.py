"""The tables of isolations. Their records are loaded with the first of them: most commands meet none."""

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from storage import recordings
from storage.codec import Row

if TYPE_CHECKING:
    from storage.isolation import Isolation, LayerRun


class IsolationTables(recordings.RecordingTables):
    """Isolations: recordings whose runs have a table, ``layer_runs``."""

    def add_isolation(self, isolation: "Isolation") -> None:
        from storage.isolation import head_of_isolation

        with self._db.atomic():
            self.add_recording(head_of_isolation(isolation))
            for run in isolation.runs:
                self.add_layer_run(isolation.id, run)

    def update_isolation(self, isolation: "Isolation") -> None:
        from storage.isolation import head_of_isolation

        self.update_recording(head_of_isolation(isolation))

    def add_layer_run(self, isolation_id: str, run: "LayerRun") -> None:
        """Store a run when it ends, replacing a failed one of the same round, layer and clients."""
        from storage.isolation import RUN_COLUMNS

        content = asdict(run)
        row: Row = {name: content.pop(name) for name in RUN_COLUMNS}
        row |= {"isolation_id": isolation_id, "content": json.dumps(content)}
        with self._db.atomic():
            self._db.table("layer_runs").insert(row, replace=True)

    def isolation(self, reference: str) -> "Isolation":
        """The isolation that is meant, with its runs. Raises UnknownReferenceError."""
        from storage.isolation import from_head, in_measured_order, run_from_row

        head = self.recording(reference, recordings.ISOLATION)
        rows = self._rows("SELECT * FROM layer_runs WHERE isolation_id = ?", (head.id,))
        runs = sorted(map(run_from_row, rows), key=in_measured_order)
        return replace(from_head(head), runs=tuple(runs))

    def isolations(self) -> "list[Isolation]":
        """All isolations, the newest first, without their runs."""
        from storage.isolation import from_head

        return [from_head(head) for head in self.recordings(recordings.ISOLATION)]
