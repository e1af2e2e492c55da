"""The table of recordings: what all kinds of them (series, load, trial, audit …) have in common in the notebook.

A recording has a row of its head, of columns that all kinds have, and of its ``content``: the fields of its kind's own
record as JSON. Tables of their own have only what there is much of: runs, points of a load, runs of an isolation.

A *whole* (trial, survey) is a recording that has others as its parts. A *lease* says which process measures a recording
now, so that no other one resumes or deletes it: ``take`` gets it, ``renew`` is its sign of life, ``release`` ends it.
*Leftovers* are our own files that may still be on a server.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from storage import codec, errors, json_reader, owners, records, shared, text_connection
from storage.queries import in_parts
from storage.records import JSONValue  # by this name its own text is read for the schemas
from storage.texts import TextTables

SERIES = "series"
LOAD = "load"
ISOLATION = "isolation"
WATCH = "watch"

MACHINE = ("host.name", "measured.site")
"""The client's facts that name the machine that measured."""

# SQL for where each kind of recording has those facts: a series itself, a whole in its parts, others in their content.
_MACHINE_OF_SERIES = (
    "SELECT id, name, value FROM facts JOIN recordings ON id = series_id"
    f" WHERE side = 'client' AND name IN {MACHINE} AND id IN (ids)"
)
_MACHINE_OF_WHOLES = (
    "SELECT part_of AS id, name, value FROM facts JOIN recordings ON id = series_id"
    f" WHERE side = 'client' AND name IN {MACHINE} AND part_of IN (ids)"
)
_MACHINE_OF_OTHERS = (
    "SELECT recordings.id, key AS name, value FROM recordings, json_each(content, '$.environment.client')"
    f" WHERE key IN {MACHINE} AND recordings.id IN (ids)"
)

_CHANGED_BY_MEASURING = ("status", "error", "subject", "leftovers")
"""Columns that measuring changes, beside the content."""

_TABLES_OF_RECORDING = (
    ("recordings", "id"),
    ("experiments", "recording_id"),
    ("series", "id"),
    ("runs", "series_id"),
    ("failed_attempts", "series_id"),
    ("resumptions", "series_id"),
    ("facts", "series_id"),
    ("trial_slots", "series_id"),
    ("load_points", "load_id"),
    ("layer_runs", "isolation_id"),
    ("baselines", "recording_id"),
)
"""(table, column of the recording's id) of all rows that belong to a recording; those that others refer to first."""

_TEXTS = f"$.{shared.SAID}"
"""Where people's texts stand in the content."""

_MOST_LISTED = 5
"""Recordings that an error names: more would not fit into its line."""


class UnknownReferenceError(LookupError):
    """No recording, or several, match a reference; ``str()`` says which, in one line."""


def held_text(reference: str, owner: owners.Owner, kind: str = SERIES) -> str:
    """What an error says of a recording that a live process measures."""
    since = records.with_zone(owner.since)
    return f"{kind} {reference} is being measured by process {owner.process_id} on {owner.host} since {since}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording(records.Head):
    """A recording of any kind, as its row has it."""

    kind: str
    """``series``, ``load``, ``trial`` …"""
    subject: str = ""
    """What was measured, in a word that stays the same: a server's URL, an experiment's name; empty for a series."""
    part_of: str | None = None
    """The id of the whole; None for a recording of its own."""
    imported_at: str | None = None
    """None for one that was measured into this notebook."""
    leftovers: Mapping[str, JSONValue] | None = None
    """Own files that may still be on a server; absent once known to be gone."""
    content: Mapping[str, JSONValue] = field(default_factory=dict)
    """The record's own fields, by its kind."""
    lease: owners.Owner | None = None
    """The process that measures it now; None where none does."""

    @property
    def running(self) -> bool:
        return self.lease is not None and self.lease.is_alive

    def row(self) -> codec.Row:
        return {
            **json_reader.named(self, *records.HEAD, "kind", "subject", "part_of", "imported_at"),
            "leftovers": json.dumps(self.leftovers) if self.leftovers else None,
            "content": json.dumps(self.content),
        }


@codec.reports_damage
def _recording_from_row(row: Mapping[str, Any], lease: owners.Owner | None = None) -> Recording:
    leftovers = codec.object_of(row["leftovers"] or "{}")

    return Recording(
        id=row["id"],
        created_at=row["created_at"],
        status=records.SeriesStatus(row["status"]),
        error=row["error"],
        label=row["label"],
        note=row["note"],
        question=row["question"],
        kind=row["kind"],
        subject=row["subject"],
        part_of=row["part_of"],
        imported_at=row["imported_at"],
        leftovers={name: text_connection.as_it_was(value) for name, value in leftovers.items()} or None,
        content=codec.object_of(row["content"]),
        lease=lease,
    )


OURS = frozenset({"imported_at", "owner", "running_by", "part_of", "lease", "leftovers"})
"""Fields of a record that are of this notebook alone, and in no document."""


def to_recording(
    record: Any,
    kind: str,
    *,
    apart: Collection[str] = (),
    subject: str | None = None,
    status: records.SeriesStatus | None = None,
    leftovers: Mapping[str, JSONValue] | None = None,
    imported_at: str | None = None,
) -> Recording:
    """A record of any kind as the notebook stores it.

    Its head's fields become columns; the others become the content, but for those ``apart``, which have tables of their
    own. Subject and status are the record's own unless they are given.
    """
    own_status: records.SeriesStatus = getattr(record, "status", records.SeriesStatus.INTERRUPTED)
    not_content = {*records.HEAD, "subject", *OURS, *apart}
    content = {name: value for name, value in asdict(record).items() if name not in not_content}
    return Recording(
        id=record.id,
        created_at=record.created_at,
        status=status or own_status,
        error=getattr(record, "error", None),
        label=record.label,
        note=record.note,
        question=record.question,
        kind=kind,
        subject=getattr(record, "subject", "") if subject is None else subject,
        imported_at=imported_at,
        leftovers=leftovers,
        content=content,
    )


def with_head(recording: Recording) -> json_reader.JSONNode:
    """The content and the head as one object, which the reader of JSON makes the kind's own record of."""
    return json_reader.JSONNode(
        recording.kind, {**recording.content, **json_reader.named(recording, *records.HEAD, "subject")}
    )


@codec.reports_damage
def whole_record(recording: Recording, kind: type[Any]) -> Any:
    """The record of that class in a recording without tables of its own. Raises DamagedNotebookError.

    Fields of this notebook alone (OURS), such as who measures it now, are in neither content nor document.
    """
    return with_head(recording).record(kind, leave=OURS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """A recording that was deleted, to put it back."""

    recording: Recording
    rows: Mapping[str, Sequence[codec.Row]]
    """By table."""
    followers: tuple[tuple[str, str], ...]
    """(id of a series, id of its base) where the base was removed."""


class RecordingTables(TextTables):
    """Recordings, who measures them now, and their baselines. Where ``kinds`` are named a look-up finds only those.

    ``_rows``, ``_rows_of`` and ``_insert_all`` are of `NotebookBase`; ``_write_texts`` is of `TextTables`.
    """

    def add_recording(self, recording: Recording) -> None:
        self.add_recordings([recording])

    def add_recordings(self, recordings: Sequence[Recording]) -> None:
        with self._db.atomic():
            # Of two that were made in one millisecond the order says which came first.
            sql = "SELECT coalesce(max(stored_order), 0) + 1 FROM recordings"
            next_order = int(self._db.execute(sql).fetchone()[0])
            rows = (
                recording.row() | {"stored_order": order}
                for order, recording in enumerate(recordings, start=next_order)
            )
            self._insert_all("recordings", rows)

    def update_recording(self, recording: Recording) -> None:
        """Store what measuring changes; people's texts stay."""
        row = recording.row()
        with self._db.atomic():
            self._db.table("recordings").update(recording.id, {name: row[name] for name in _CHANGED_BY_MEASURING})
            self._set_content(recording.id, row["content"])

    def _set_content(self, recording_id: str, content: str) -> None:
        """Replace the content, but keep people's texts, which are in it as well."""
        self._db.execute(
            "UPDATE recordings SET content = iif(content ->> ?1 IS NULL, ?2, json_set(?2, ?1, content -> ?1))"
            " WHERE id = ?3",
            (_TEXTS, content, recording_id),
        )

    def has_imported(self) -> bool:
        """Whether any recording came from another notebook or a file."""
        return bool(self._db.execute("SELECT EXISTS (SELECT 1 FROM recordings WHERE imported_at > '')").fetchone()[0])

    def machines(self, ids: Sequence[str]) -> dict[str, str]:
        """Host, and site if named, of the measuring machine by id, where known."""
        facts_by_id: dict[str, dict[str, str]] = {}
        for sql in (_MACHINE_OF_WHOLES, _MACHINE_OF_SERIES, _MACHINE_OF_OTHERS):
            for row in self._rows_of(sql, ids):
                facts_by_id.setdefault(row["id"], {})[row["name"]] = str(row["value"])

        machines = {}
        for recording_id, facts in facts_by_id.items():
            machines[recording_id] = ", ".join(facts[name] for name in MACHINE if name in facts)
        return machines

    def progress(self) -> dict[str, tuple[int, int]]:
        """(1 where it is complete, how many runs it has) of each recording, by id."""
        counts = " + ".join(f"(SELECT count(*) FROM {table} WHERE {key[0]} = id)" for table, key in shared.RUNS.items())
        rows = self._db.execute(f"SELECT id, status = 'complete', {counts} FROM recordings")
        return {recording_id: (is_complete, runs) for recording_id, is_complete, runs in rows}

    def mark_imported(self, recording_id: str, imported_at: str) -> None:
        """Note when a recording was imported."""
        with self._db.atomic():
            self._db.table("recordings").update(recording_id, {"imported_at": imported_at})

    def resolve(self, reference: str, *kinds: str) -> str:
        """The id of the recording that is meant. Raises UnknownReferenceError."""
        if reference == shared.LAST_LOAD:
            return self.resolve(shared.LAST, LOAD)
        if reference == shared.LAST:
            return self._newest(*kinds)

        heads = self._recordings_called(reference, *kinds)
        fitting = [head for head in heads if not kinds or head.kind in kinds]
        if fitting and (len(fitting) == 1 or fitting[0].id == reference):
            return fitting[0].id
        if fitting:
            raise UnknownReferenceError(_several_text(reference, fitting))

        noun = " or ".join(kinds) or "recording"
        if len(heads) == 1:
            raise UnknownReferenceError(
                f"{heads[0].id} is not {errors.with_article(noun)} (it is of kind {heads[0].kind})"
            )
        similar = errors.did_you_mean(reference, (baseline.name for baseline in self.baselines()))
        raise UnknownReferenceError(
            f"no {noun} or baseline is called {reference!r}; {similar}`sharebench list` shows what there is"
        )

    def _recordings_called(self, reference: str, *kinds: str) -> list[Recording]:
        """An id wins over every name: names come from other notebooks too. Of a baseline's recordings, the newest."""
        ids = [reference] if self._is_id(reference) else self.baseline_ids(reference, *kinds)[-1:]
        return self.recordings_of(ids or self._ids_called(reference))

    def _is_id(self, reference: str) -> bool:
        return self._db.execute("SELECT 1 FROM recordings WHERE id = ?", (reference,)).fetchone() is not None

    def _newest(self, *kinds: str) -> str:
        of_kinds = f"AND kind IN ({','.join('?' * len(kinds))})" if kinds else ""
        sql = f"SELECT id FROM recordings WHERE part_of IS NULL {of_kinds} ORDER BY stored_order DESC LIMIT 1"
        row = self._db.execute(sql, kinds).fetchone()
        if row:
            return str(row[0])

        if kinds and self._db.execute("SELECT 1 FROM recordings LIMIT 1").fetchone():
            raise UnknownReferenceError(f"there is no {' or '.join(kinds)} in the notebook")
        raise UnknownReferenceError("the notebook is empty: measure something first (sharebench run TARGET)")

    def _ids_called(self, reference: str) -> list[str]:
        """Ids of the trial or survey of this name; else of all with this label; else of all that begin so."""

        def select_ids(sql: str) -> list[str]:
            return [str(row[0]) for row in self._db.execute(sql, {"r": reference}).fetchall()]

        wholes = select_ids("SELECT recording_id FROM experiments WHERE name = :r AND recording_id IS NOT NULL")
        if wholes or not reference:
            return wholes
        labelled = select_ids("SELECT id FROM recordings WHERE label = :r AND part_of IS NULL ORDER BY stored_order")
        if labelled:
            return labelled

        # One more than is listed, which tells that there are more.
        return select_ids("SELECT id FROM recordings WHERE id >= :r AND id < :r || char(1114111) ORDER BY id LIMIT 6")

    def recording(self, reference: str, *kinds: str) -> Recording:
        """The recording that is meant. Raises UnknownReferenceError."""
        recordings = self.recordings_of([self.resolve(reference, *kinds)])
        if not recordings:
            raise errors.DamagedNotebookError(f"{reference} is in an index and nowhere else")
        return recordings[0]

    def recordings_of(self, ids: Sequence[str]) -> list[Recording]:
        """In the order of the ids; those that are gone are left out."""
        rows = self._rows_of("SELECT * FROM recordings WHERE id IN (ids)", ids)
        recordings = {recording.id: recording for recording in self._recordings(rows)}
        return [recordings[recording_id] for recording_id in ids if recording_id in recordings]

    def kinds_of(self, ids: Sequence[str]) -> dict[str, str]:
        """The kinds by id, also of recordings that cannot be read otherwise."""
        kinds: dict[str, str] = {}
        for sql, some_ids in in_parts("SELECT id, kind FROM recordings WHERE id IN (ids)", ids):
            kinds.update((str(recording_id), str(kind)) for recording_id, kind in self._db.execute(sql, some_ids))
        return kinds

    def recordings(
        self, kind: str | None = None, *, limit: int | None = None, parts: bool = False, part_of: str | None = None
    ) -> list[Recording]:
        """The newest first: of one kind or all, with the ``parts`` of wholes or without, or the parts of one whole."""
        rows = self._rows(
            "SELECT * FROM recordings WHERE (?1 IS NULL OR kind = ?1)"
            " AND CASE WHEN ?2 IS NOT NULL THEN part_of = ?2 ELSE ?3 OR part_of IS NULL END"
            " ORDER BY created_at DESC, stored_order DESC LIMIT ?4",
            (kind, part_of, parts, -1 if limit is None else limit),
        )
        return self._recordings(rows)

    def count_recordings(self) -> int:
        """How many there are, without parts."""
        return int(self._db.execute("SELECT count(*) FROM recordings WHERE part_of IS NULL").fetchone()[0])

    def _recordings(self, rows: Iterable[codec.Row]) -> list[Recording]:
        running = self.running()
        return [_recording_from_row(row, running.get(row["id"])) for row in rows]

    def recordings_with_leftovers(self) -> list[Recording]:
        """Recordings with own files that may still be on a server, but those that are kept there or in use."""
        sql = (
            "SELECT * FROM recordings WHERE leftovers IS NOT NULL AND imported_at IS NULL"
            " AND ifnull(content ->> '$.choices.keep_files', 0) = 0 ORDER BY created_at"
        )
        return [recording for recording in self._recordings(self._rows(sql)) if not recording.running]

    def take(self, recording_id: str) -> None:
        """Have this process hold the recording. Raises RefusedError where it is gone, or a live process has it."""
        with self._db.atomic():
            recordings = self.recordings_of([recording_id])
            if not recordings:
                raise errors.RefusedError(f"{recording_id} is in the notebook no more; measure a new one")

            owner = recordings[0].lease
            if owner:
                holder = held_text(recording_id, owner, recordings[0].kind)
                raise errors.RefusedError(f"{holder}: wait for its end, or end that process")

            row = {"recording_id": recording_id, **asdict(owners.this_process())}
            self._db.table("leases").insert(row, replace=True)

    def renew(self, recording_id: str) -> None:
        """Say that its process is alive, for those on other hosts."""
        with self._db.atomic():
            self._db.execute(
                "UPDATE leases SET renewed_at = ? WHERE recording_id = ?", (records.utc_now(), recording_id)
            )

    def release(self, recording_id: str) -> None:
        with self._db.atomic():
            self._db.execute("DELETE FROM leases WHERE recording_id = ?", (recording_id,))

    def running(self) -> dict[str, owners.Owner]:
        """Who measures a recording now, or a part of it, by the recording's id."""
        sql = "SELECT leases.*, part_of FROM leases LEFT JOIN recordings ON recordings.id = recording_id"
        owners = [(row, codec.owner_from_row(row)) for row in self._rows(sql)]
        alive = [(row, owner) for row, owner in owners if owner.is_alive]

        wholes = {row["part_of"]: owner for row, owner in alive if row["part_of"]}
        return wholes | {row["recording_id"]: owner for row, owner in alive}

    def remove(self, recording_id: str) -> Removed:
        """Remove a recording with its parts. ``restore`` takes the result to undo it.

        Raises RefusedError while it is measured, UnknownReferenceError where it is gone.
        """
        recording = self.recording(recording_id)
        ids = [recording.id, *(part.id for part in self.recordings(part_of=recording.id))]
        running = self.running()
        for part_id in ids:
            if part_id in running:
                holder = held_text(recording.id, running[part_id], recording.kind)
                raise errors.RefusedError(f"{holder}, so it is not deleted")

        with self._db.atomic():
            rows = self._rows_by_table(ids)
            based = self._rows_of("SELECT id, base_id FROM series WHERE base_id IN (ids)", ids)
            followers = tuple((row["id"], row["base_id"]) for row in based if row["id"] not in ids)
            self._db.execute("DELETE FROM recordings WHERE id = ?", (recording.id,))
        return Removed(recording=recording, rows=rows, followers=followers)

    def _rows_by_table(self, ids: Sequence[str]) -> dict[str, list[codec.Row]]:
        return {
            table: list(self._rows_of(f"SELECT * FROM {table} WHERE {column} IN (ids)", ids))
            for table, column in _TABLES_OF_RECORDING
        }

    def rows_to_move(self, recording_id: str) -> dict[str, list[codec.Row]]:
        """The rows by table that another notebook needs so that the recording can go on there; see `take_rows`."""
        wholes = [recording.part_of for recording in self.recordings_of([recording_id]) if recording.part_of]
        rows = self._rows_by_table([*wholes, recording_id])
        names = [series["experiment"] for series in rows["series"] if series["experiment"]]
        experiments = list(self._rows_of("SELECT * FROM experiments WHERE name IN (ids)", names))
        return {**rows, "experiments": experiments}

    def take_rows(self, rows: Mapping[str, Sequence[codec.Row]]) -> None:
        """Store rows from another notebook, but those that are here already."""
        with self._db.atomic():
            for table, _ in _TABLES_OF_RECORDING:
                self._insert_all(table, rows.get(table, ()), unless_there=True)

    def remove_unread(self, recording_id: str) -> None:
        """Remove a recording that cannot be read, with its parts. Raises RefusedError while it is measured."""
        owner = self.running().get(recording_id)
        if owner:
            raise errors.RefusedError(f"{held_text(recording_id, owner, 'recording')}, so it is not deleted")

        with self._db.atomic():
            self._db.execute("DELETE FROM recordings WHERE id = ?", (recording_id,))

    def restore(self, removed: Removed) -> None:
        """Undo the removal of a recording."""
        with self._db.atomic():
            # A series may be based on one whose row comes after its own.
            self._db.execute("PRAGMA defer_foreign_keys = ON")
            for table, _ in _TABLES_OF_RECORDING:
                # Only a baseline can have been set again meanwhile.
                self._db.table(table).insert_all(removed.rows.get(table, ()), replace=table == "baselines")
            self.follow_again(removed)

    def follow_again(self, removed: Removed) -> None:
        """Have the series that were based on what was removed be based on it again: on what has its id now."""
        with self._db.atomic():
            for follower, base in removed.followers:
                self._db.execute("UPDATE series SET base_id = ? WHERE id = ?", (base, follower))

    def baselines(self) -> list[records.Baseline]:
        """All baselines, by name; a name may be that of several recordings."""
        rows = self._rows(
            "SELECT name, recording_id, set_at FROM baselines JOIN recordings ON id = recording_id"
            " ORDER BY name, set_at, recording_id"
        )
        return [
            records.Baseline(name=row["name"], recording_id=row["recording_id"], set_at=row["set_at"]) for row in rows
        ]

    def baseline_ids(self, name: str, *kinds: str) -> list[str]:
        """The recordings of that baseline name, the one stored last at the end."""
        sql = "SELECT id, kind FROM baselines JOIN recordings ON id = recording_id WHERE name = ? ORDER BY stored_order"
        rows = self._db.execute(sql, (name,))
        return [str(recording_id) for recording_id, kind in rows if not kinds or kind in kinds]

    def set_baseline(self, name: str, *ids: str, keep: bool = False) -> None:
        """Give recordings the name of a baseline; ``keep``: beside those that have it already.

        Raises RefusedError for a name that cannot be, and for a series without a valid measured run.
        """
        problem = shared.why_no_baseline_name(name)
        if problem:
            raise errors.RefusedError(problem)

        with self._db.atomic():
            if not keep:
                for former_id in self.baseline_ids(name):
                    self._write_texts(former_id, {f"{shared.BASELINE}/{name}": ""})

            for head in self.recordings_of(ids):
                if head.kind == SERIES and not self._is_measured(head.id):
                    raise errors.RefusedError(
                        f"series {head.id} has no valid measured run, so nothing can be compared with it:"
                        " complete it, or measure a new one",
                        options=f"run --resume {head.id}",
                    )
                self._write_texts(head.id, {f"{shared.BASELINE}/{name}": records.utc_now()})

    def _is_measured(self, series_id: str) -> bool:
        sql = "SELECT 1 FROM runs WHERE series_id = ? AND phase = 'measured' AND status = 'valid' LIMIT 1"
        return self._db.execute(sql, (series_id,)).fetchone() is not None

    def remove_baseline(self, name: str) -> None:
        with self._db.atomic():
            former_ids = self.baseline_ids(name)
            for recording_id in former_ids:
                with suppress(errors.UnreadableRecordingError):  # then only its row goes
                    self._write_texts(recording_id, {f"{shared.BASELINE}/{name}": ""})

            # Also the rows of recordings that are gone.
            deleted = self._db.execute("DELETE FROM baselines WHERE name = ?", (name,)).rowcount
            if not deleted and not former_ids:
                raise UnknownReferenceError(f"no baseline is called {name!r}; `sharebench baseline list` shows them")


def _several_text(reference: str, heads: Sequence[Recording]) -> str:
    """What an error says of a reference that several recordings match."""
    if all(head.label == reference for head in heads):
        newest = heads[-_MOST_LISTED:]
        listed = ", ".join(f"{head.id} of {records.to_minute(head.created_at)}" for head in newest)
        return f"{len(heads)} recordings have the label {reference!r}: {listed}; name one of them by its id"

    listed = ", ".join(head.id for head in heads[:_MOST_LISTED])
    more = ", …" if len(heads) > _MOST_LISTED else ""
    return f"{reference!r} is short for several recordings: {listed}{more}"
