"""Loads and their points in the notebook: each point is stored the moment it is over."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from storage.base import NotebookBase
from storage.codec import object_of
from storage.errors import DamagedNotebookError, RefusedError
from storage.json_reader import DocumentError, JSONNode, named
from storage.loads.codec import capacity_to_json, choices_to_json, point_from_json, point_to_json
from storage.loads.records import Capacity, Load, LoadChoices, LoadPoint, LoadWorker
from storage.loads.scenario import scenario_from_json
from storage.measuring import held_text
from storage.ownership import this_process
from storage.records import Owner, SeriesStatus, Target, utc_now

_PLAIN = (
    "id", "created_at", "error", "label", "note", "link_bits_per_second", "file_set_bytes", "server_memory_bytes",
    "scratch_folder", "imported_at",
)  # fmt: skip

LAST_LOAD = "last-load"
"""The reference that means the newest load."""


class LoadTables(NotebookBase):
    """Loads, by id or by a name that was given to them."""

    def add_load(self, load: Load) -> None:
        """Store a load that is not there yet, with its points. Raises sqlite3.IntegrityError if it is."""
        with self._db.atomic():
            order = int(self._db.execute("SELECT coalesce(max(stored_order), 0) + 1 FROM loads").fetchone()[0])
            self._db.table("loads").insert(_load_to_row(load) | {"stored_order": order})
            for point in load.points:
                self._db.table("load_points").insert(_point_to_row(load.id, point))

    def add_loads(self, many: Sequence[Load]) -> None:
        """Store loads from documents, all or none."""
        with self._db.atomic():
            for load in many:
                self.add_load(replace(load, imported_at=utc_now()))

    def update_load(self, load: Load) -> None:
        """Store what is known of the load, but its points and its label, which may be another one meanwhile."""
        row = _load_to_row(load)
        del row["label"]
        with self._db.atomic():
            self._db.table("loads").update(load.id, row)

    def take_load(self, load_id: str) -> None:
        """Have this process measure the load from now on. Raises RefusedError while it is being measured."""
        with self._db.atomic():
            found = self.load(load_id)
            if found is not None and found.owner is not None and found.running:
                raise RefusedError(f"{held_text(load_id, found.owner, 'load')}: wait for its end, or end that process")
            self._own(load_id, this_process())

    def renew_load(self, load_id: str) -> None:
        """Say that the process that measures the load goes on."""
        with self._db.atomic():
            self._renew_owner("loads", load_id)

    def release_load(self, load_id: str) -> None:
        """Have nobody measure the load any more."""
        with self._db.atomic():
            self._own(load_id, None)

    def _own(self, load_id: str, owner: Owner | None) -> None:
        text = json.dumps(asdict(owner)) if owner else None
        self._db.execute("UPDATE loads SET owner = ? WHERE id = ?", (text, load_id))

    def label_load(self, load_id: str, label: str) -> None:
        """Give a load another label; nothing else of it is touched."""
        with self._db.atomic():
            self._db.execute("UPDATE loads SET label = ? WHERE id = ?", (label, load_id))

    def put_point(self, load_id: str, point: LoadPoint) -> None:
        """Store a point, in place of an earlier one of that number."""
        with self._db.atomic():
            self._db.table("load_points").insert(_point_to_row(load_id, point), replace=True)

    def load_ids(self, reference: str) -> list[str]:
        """The ids that a reference may mean: a name's newest, an id, a prefix."""
        named = self._db.execute(
            "SELECT load_id FROM load_names JOIN loads ON loads.id = load_id WHERE name = ? ORDER BY stored_order DESC",
            (reference,),
        ).fetchall()
        if named:
            return [str(named[0][0])]
        found = self._db.execute(
            "SELECT id FROM loads WHERE id >= :r AND id < :r || char(1114111) ORDER BY id = :r DESC, id LIMIT 6",
            {"r": reference},
        ).fetchall()
        ids = [str(row[0]) for row in found] if reference else []
        return ids[:1] if ids and ids[0] == reference else ids

    def load(self, load_id: str) -> Load | None:
        """The load of that very id."""
        rows = list(self._rows("SELECT * FROM loads WHERE id = ?", (load_id,)))
        return self._loads(rows)[0] if rows else None

    def last_load(self) -> Load | None:
        """The newest load."""
        rows = list(self._rows("SELECT * FROM loads ORDER BY stored_order DESC LIMIT 1"))
        return self._loads(rows)[0] if rows else None

    def find_load(self, reference: str) -> Load | None:
        """The load that a reference means: an id, an unambiguous prefix, a name, or ``last-load``; None for no load."""
        if reference == LAST_LOAD:
            return self.last_load()
        ids = self.load_ids(reference)
        return self.load(ids[0]) if len(ids) == 1 else None

    def loads(self, limit: int | None = None) -> list[Load]:
        """The loads with their points, newest first."""
        sql = "SELECT * FROM loads ORDER BY created_at DESC, stored_order DESC LIMIT ?"
        return self._loads(list(self._rows(sql, (-1 if limit is None else limit,))))

    def remove_load(self, load_id: str) -> None:
        """Take a load out, with its points and names."""
        with self._db.atomic():
            self._db.table("loads").delete(load_id)

    def load_names(self) -> dict[str, list[str]]:
        """The ids of the loads that each name stands for."""
        found: dict[str, list[str]] = {}
        for name, load_id in self._db.execute("SELECT name, load_id FROM load_names ORDER BY name, load_id"):
            found.setdefault(name, []).append(load_id)
        return found

    def name_load(self, name: str, load_id: str) -> None:
        """Give a load a name; one that was given before moves."""
        with self._db.atomic():
            self._db.execute("DELETE FROM load_names WHERE name = ?", (name,))
            self._db.execute(
                "INSERT INTO load_names (name, load_id, set_at) VALUES (?, ?, ?)", (name, load_id, utc_now())
            )

    def forget_load_name(self, name: str) -> bool:
        """Forget a load's name; whether there was one."""
        with self._db.atomic():
            return bool(self._db.conn.execute("DELETE FROM load_names WHERE name = ?", (name,)).rowcount)

    def _loads(self, rows: Sequence[Mapping[str, Any]]) -> list[Load]:
        try:
            return [_load_from_row(row, self._points(row["id"])) for row in rows]
        except (DocumentError, ValueError, TypeError, LookupError, AttributeError) as error:
            raise DamagedNotebookError(error) from error

    def _points(self, load_id: str) -> tuple[LoadPoint, ...]:
        rows = self._rows("SELECT figures FROM load_points WHERE load_id = ? ORDER BY number", (load_id,))
        return tuple(point_from_json(JSONNode("figures", object_of(row["figures"]))) for row in rows)


def _load_to_row(load: Load) -> dict[str, Any]:
    return {name: getattr(load, name) for name in _PLAIN} | {
        "status": load.status.value,
        "scenario": load.scenario.name,
        "targets": json.dumps([asdict(target) for target in load.targets]),
        "plan": json.dumps({"scenario": load.scenario.to_json(), "choices": choices_to_json(load.choices)}),
        "workers": json.dumps([asdict(worker) for worker in load.workers]),
        "environment": json.dumps({side: dict(facts) for side, facts in load.environment.items()}),
        "capacity": json.dumps(capacity_to_json(load.capacity)),
    }


def _load_from_row(row: Mapping[str, Any], points: tuple[LoadPoint, ...]) -> Load:
    plan = JSONNode("plan", json.loads(row["plan"])).object()
    return Load(
        **{name: row[name] for name in _PLAIN},
        status=SeriesStatus(row["status"]),
        targets=JSONNode("targets", json.loads(row["targets"])).read(tuple[Target, ...]),
        scenario=scenario_from_json(plan.at("scenario")),
        choices=plan.maybe("choices").read(LoadChoices | None) or LoadChoices(),
        workers=JSONNode("workers", json.loads(row["workers"])).read(tuple[LoadWorker, ...]),
        environment=json.loads(row["environment"]),
        capacity=JSONNode("capacity", json.loads(row["capacity"])).read(Capacity | None),
        points=points,
        owner=JSONNode("owner", json.loads(row["owner"] or "null")).read(Owner | None),
    )


def _point_to_row(load_id: str, point: LoadPoint) -> dict[str, Any]:
    return {
        "load_id": load_id,
        "status": point.status.value,
        **named(point, "number", "users", "connected", "reason", "seconds", "requests"),
        **named(point, "requests_per_second", "read_bytes_per_second", "write_bytes_per_second"),
        "response_p95_seconds": point.response.quantile_seconds(0.95),
        "figures": json.dumps(point_to_json(point)),
    }
