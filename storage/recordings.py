"""Recordings: what every kind has in the notebook. Only what is counted by run has tables of its own."""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from storage import records
from storage.base import NotebookBase
from storage.codec import Row, as_it_was, object_of, of_a_sound_file, owner_from_row
from storage.errors import (
    DamagedNotebookError,
    RefusedError,
    UnreadableRecordingError,
    did_you_mean,
    with_article,
)
from storage.json_reader import JSONNode, named
from storage.queries import in_parts
from storage.records import JSONValue  # by this name its own text is read for the schemas
from storage.shared import BASELINE, RUNS, SAID, Texts, text_since, texts_from_json

SERIES, LOAD, ISOLATION = "series", "load", "isolation"

LAST = "last"
LAST_LOAD = "last-load"

DECISION, NORMAL, EXPERIMENT = "decision", "normal", "experiment"
MACHINE = ("host.name", "measured.site")
"""The client's facts that name the machine that measured."""
WRITTEN_BY_PEOPLE = ("label", "note", "question")
_BY_MEASURING = ("status", "error", "subject", "leftovers")

_OWN_ROWS = (
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


class UnknownReferenceError(LookupError):
    """No recording, or several, match a reference; ``str()`` says which, in one line."""


def held_text(reference: str, owner: records.Owner, kind: str = SERIES) -> str:
    since = records.with_zone(owner.since)
    return f"{kind} {reference} is being measured by process {owner.process_id} on {owner.host} since {since}"


_LONGEST_NAME = 200
"""A line of a list, and more than anybody types."""


def why_no_baseline_name(name: str) -> str:
    """Why that cannot name a baseline, empty where it can: ``last`` and ids name a recording already."""
    why = ""
    if name in {LAST, LAST_LOAD}:
        why = "that always names the newest"
    elif re.fullmatch(r"[0-9a-f]{12}", name):
        why = "it looks like an id"
    elif not name:
        why = "it is empty"
    elif name != name.strip():
        why = "a blank begins or ends it"
    elif name.startswith("-"):
        why = "it looks like an option"
    elif not name.isprintable():
        why = "it has a character that is not printed"
    elif len(name) > _LONGEST_NAME:
        name = f"{name[:20]}…"
        why = f"it has more than {_LONGEST_NAME} characters"
    return why and f"a baseline cannot be called {name!r}, since {why}; choose a word such as before-tuning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording(records.Head):
    kind: str
    subject: str = ""
    part_of: str | None = None
    imported_at: str | None = None
    leftovers: Mapping[str, JSONValue] | None = None
    """Own files that may still be on a server; absent once known to be gone."""
    content: Mapping[str, JSONValue] = field(default_factory=dict)
    lease: records.Owner | None = None

    @property
    def running(self) -> bool:
        return self.lease is not None and records.is_alive(self.lease)

    def row(self) -> Row:
        return {
            **named(self, *_PLAIN),
            "leftovers": json.dumps(self.leftovers) if self.leftovers else None,
            "content": json.dumps(self.content),
        }


_PLAIN = (*records.HEAD, "kind", "subject", "part_of", "imported_at")


@of_a_sound_file
def _recording_from_row(row: Mapping[str, Any], lease: records.Owner | None = None) -> Recording:
    return Recording(
        **{**{name: row[name] for name in _PLAIN}, "status": records.SeriesStatus(row["status"])},
        leftovers={name: as_it_was(value) for name, value in object_of(row["leftovers"] or "{}").items()} or None,
        content=object_of(row["content"]),
        lease=lease,
    )


OURS = frozenset({"imported_at", "owner", "running_by", "part_of", "lease", "leftovers"})
"""Fields of a record that only this notebook has."""


def recorded(record: Any, kind: str, *, apart: Collection[str] = (), **more: Any) -> Recording:
    """A record as the notebook stores it: its other fields become the content, but those ``apart``."""
    found = asdict(record)
    head = {name: found.pop(name) for name in (*records.HEAD, "subject") if name in found}
    content = {name: value for name, value in found.items() if name not in OURS and name not in apart}
    return Recording(kind=kind, content=content, **{**head, **more})


def with_head(recording: Recording) -> JSONNode:
    """The stored content and head, to be read by the record's types."""
    return JSONNode(recording.kind, {**recording.content, **named(recording, *records.HEAD, "subject")})


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    recording: Recording
    rows: Mapping[str, Sequence[Row]]
    followers: tuple[tuple[str, str], ...]


def _texts_as_stored(said: str | None, created_at: str) -> Texts:
    """Versions that cannot be read are left out: what people see stands in columns of its own."""
    try:
        return texts_from_json(JSONNode(SAID, json.loads(said or "null")), created_at)
    except ValueError:
        return Texts(created_at)


class RecordingTables(NotebookBase):
    def add_recording(self, recording: Recording) -> None:
        self.add_recordings([recording])

    def add_recordings(self, recordings: Sequence[Recording]) -> None:
        with self._db.atomic():
            order = int(self._db.execute("SELECT coalesce(max(stored_order), 0) + 1 FROM recordings").fetchone()[0])
            rows = (one.row() | {"stored_order": number} for number, one in enumerate(recordings, start=order))
            self._insert_all("recordings", rows)

    def update_recording(self, recording: Recording) -> None:
        """Store what measuring changes; people's texts stay."""
        row = recording.row()
        with self._db.atomic():
            self._db.table("recordings").update(recording.id, {name: row[name] for name in _BY_MEASURING})
            self._set_content(recording.id, row["content"])

    def _set_content(self, recording_id: str, content: str) -> None:
        kept = "iif(content ->> ?1 IS NULL, ?2, json_set(?2, ?1, content -> ?1))"
        sql = f"UPDATE recordings SET content = {kept} WHERE id = ?3"  # noqa: S608  our own words
        self._db.execute(sql, (f"$.{SAID}", content, recording_id))

    def describe(self, recording_id: str, **texts: str) -> None:
        assert set(texts) <= set(WRITTEN_BY_PEOPLE)
        self._say(recording_id, texts)

    def _say(self, recording_id: str, new: Mapping[str, str]) -> None:
        with self._db.atomic():
            for texts in self.said([recording_id]).values():
                known = dict.fromkeys(new, "") | texts.shown
                if changed := {name: text for name, text in new.items() if text != known[name]}:
                    self.keep_said(recording_id, texts.written(changed, records.utc_now()))

    def said(self, ids: Sequence[str]) -> dict[str, Texts]:
        found = {}
        said = f"iif(json_valid(content), content -> '$.{SAID}', NULL) AS said, json_valid(content) AS is_json"
        for row in self._rows_of(f"SELECT *, {said} FROM recordings WHERE id IN (ids)", ids):  # noqa: S608  our own word
            if not row["is_json"]:
                raise UnreadableRecordingError(row["id"], "content holds no JSON")
            created_at = row["created_at"]
            texts = {name: text_since(created_at, row[name]) for name in WRITTEN_BY_PEOPLE}
            found[row["id"]] = Texts(created_at, {**texts, **_texts_as_stored(row["said"], created_at).texts})
        for row in self._rows_of("SELECT * FROM baselines WHERE recording_id IN (ids)", ids):
            if row["recording_id"] not in found:
                continue
            known, name = found[row["recording_id"]], f"{BASELINE}/{row['name']}"
            if name not in known.texts:
                set_at = row["set_at"] if records.is_moment(row["set_at"]) else known.created_at
                named = {name: text_since(known.created_at).written(row["set_at"], set_at)}
                found[row["recording_id"]] = Texts(known.created_at, {**known.texts, **named})
        return found

    def keep_said(self, recording_id: str, texts: Texts) -> None:
        columns = "content = json_set(content, ?, json(?)), label = ?, note = ?, question = ?"
        sql = f"UPDATE recordings SET {columns} WHERE id = ?"  # noqa: S608  our own words
        shown = dict.fromkeys(WRITTEN_BY_PEOPLE, "") | texts.shown
        values = [shown.pop(name) for name in WRITTEN_BY_PEOPLE]
        with self._db.atomic():
            self._db.execute(sql, (f"$.{SAID}", json.dumps(texts.to_json()), *values, recording_id))
            for name, text in shown.items():
                self._make_count(recording_id, name, text)

    def _make_count(self, recording_id: str, name: str, text: str) -> None:
        place, _, rest = name.partition("/")
        if place == BASELINE and text:
            # an older version took any name and time from another notebook
            if why_no_baseline_name(rest) or not records.is_moment(text):
                return
            self._db.execute("INSERT OR REPLACE INTO baselines VALUES (?, ?, ?)", (rest, recording_id, text))
        elif place == BASELINE:
            self._db.execute("DELETE FROM baselines WHERE name = ? AND recording_id = ?", (rest, recording_id))
        elif place in RUNS:
            keys = (recording_id, *rest.split("/"))
            if len(keys) != len(RUNS[place]):  # as above
                return
            where = " AND ".join(f"{column} = ?" for column in RUNS[place])
            sql = f"UPDATE {place} SET status = ?, reason = ? WHERE {where} AND status IN ('valid', 'rejected')"  # noqa: S608  our own names
            self._db.execute(sql, ("rejected" if text else "valid", text or None, *keys))
        elif place == DECISION:
            self._db.execute("UPDATE series SET decision = ? WHERE id = ?", (text or None, recording_id))
        elif place == EXPERIMENT and text:
            self._move_to_experiment(recording_id, text)

    def _move_to_experiment(self, series_id: str, name: str) -> None:
        """Follow a renaming; an experiment without series is deleted."""
        (old,) = self._db.execute("SELECT experiment FROM series WHERE id = ?", (series_id,)).fetchone() or (None,)
        of_a_whole = "SELECT 1 FROM experiments WHERE name IN (?, ?) AND recording_id IS NOT NULL"  # which has a plan
        if old in {None, name} or self._db.execute(of_a_whole, (old, name)).fetchone():
            return
        columns = "kind, subject, created_at"
        copied = f"SELECT ?, {columns} FROM experiments WHERE name = ?"  # noqa: S608  our own names
        self._db.execute(f"INSERT OR IGNORE INTO experiments (name, {columns}) {copied}", (name, old))
        self._db.execute("UPDATE series SET experiment = ? WHERE id = ?", (name, series_id))
        left = "NOT EXISTS (SELECT 1 FROM series WHERE experiment = name)"
        self._db.execute(f"DELETE FROM experiments WHERE name = ? AND {left}", (old,))  # noqa: S608  our own names

    def has_imported(self) -> bool:
        return bool(self._db.execute("SELECT EXISTS (SELECT 1 FROM recordings WHERE imported_at > '')").fetchone()[0])

    def machines(self, ids: Sequence[str]) -> dict[str, str]:
        """Host, and site if named, of the measuring machine by id, where known."""
        found: dict[str, dict[str, str]] = {}
        of_series = (
            f"SELECT {column} AS id, name, value FROM facts JOIN recordings ON id = series_id"  # noqa: S608  our own
            f" WHERE side = 'client' AND name IN {MACHINE} AND {column} IN (ids)"
            for column in ("part_of", "id")
        )
        of_others = (
            "SELECT recordings.id, key AS name, value FROM recordings, json_each(content, '$.environment.client')"  # noqa: S608
            f" WHERE key IN {MACHINE} AND recordings.id IN (ids)"
        )
        for sql in (*of_series, of_others):
            for row in self._rows_of(sql, ids):
                found.setdefault(row["id"], {})[row["name"]] = str(row["value"])
        return {one: ", ".join(facts[name] for name in MACHINE if name in facts) for one, facts in found.items()}

    def progress(self) -> dict[str, tuple[int, int]]:
        counts = " + ".join(f"(SELECT count(*) FROM {table} WHERE {key[0]} = id)" for table, key in RUNS.items())  # noqa: S608
        sql = f"SELECT id, status = 'complete', {counts} FROM recordings"  # noqa: S608  our own names
        return {one: (complete, count) for one, complete, count in self._db.execute(sql)}

    def mark_imported(self, recording_id: str, imported_at: str) -> None:
        with self._db.atomic():
            self._db.table("recordings").update(recording_id, {"imported_at": imported_at})

    def resolve(self, reference: str, *kinds: str) -> str:
        """Raises UnknownReferenceError."""
        if reference == LAST_LOAD:
            return self.resolve(LAST, LOAD)
        if reference == LAST:
            return self._newest(*kinds)
        ids = [reference] if self._is_id(reference) else self.baseline_ids(reference, *kinds)[-1:]
        found = self.recordings_of(ids or self._ids_called(reference))
        fitting = [head for head in found if not kinds or head.kind in kinds]
        if fitting and (len(fitting) == 1 or fitting[0].id == reference):
            return fitting[0].id
        what = " or ".join(kinds) or "recording"
        if len(fitting) > 1 and all(head.label == reference for head in fitting):
            listed = ", ".join(f"{head.id} of {records.to_minute(head.created_at)}" for head in fitting[-5:])
            raise UnknownReferenceError(
                f"{len(fitting)} recordings have the label {reference!r}: {listed}; name one of them by its id"
            )
        if len(fitting) > 1:
            more = ", …" if len(fitting) > 5 else ""
            listed = ", ".join(head.id for head in fitting[:5])
            raise UnknownReferenceError(f"{reference!r} is short for several recordings: {listed}{more}")
        if len(found) == 1:
            raise UnknownReferenceError(f"{found[0].id} is not {with_article(what)} (it is of kind {found[0].kind})")
        meant = did_you_mean(reference, (each.name for each in self.baselines()))
        raise UnknownReferenceError(
            f"no {what} or baseline is called {reference!r}; {meant}`sharebench list` shows what there is"
        )

    def _is_id(self, reference: str) -> bool:
        """An id wins over every name: names come from other notebooks too."""
        return self._db.execute("SELECT 1 FROM recordings WHERE id = ?", (reference,)).fetchone() is not None

    def _newest(self, *kinds: str) -> str:
        of_kinds = f"AND kind IN ({','.join('?' * len(kinds))})" if kinds else ""
        sql = f"SELECT id FROM recordings WHERE part_of IS NULL {of_kinds} ORDER BY stored_order DESC LIMIT 1"  # noqa: S608  placeholders
        for (found,) in self._db.execute(sql, kinds):
            return str(found)
        if kinds and self._db.execute("SELECT 1 FROM recordings LIMIT 1").fetchone():
            raise UnknownReferenceError(f"there is no {' or '.join(kinds)} in the notebook")
        raise UnknownReferenceError("the notebook is empty: measure something first (sharebench run TARGET)")

    def _ids_called(self, reference: str) -> list[str]:
        """Ids with this prefix; else the trial or survey of this name, or all with this label."""

        def ids(sql: str) -> list[str]:
            return [str(row[0]) for row in self._db.execute(sql, {"r": reference}).fetchall()]

        named = ids("SELECT recording_id FROM experiments WHERE name = :r AND recording_id IS NOT NULL")
        if named or not reference:
            return named
        found = ids("SELECT id FROM recordings WHERE id >= :r AND id < :r || char(1114111) ORDER BY id LIMIT 6")
        return ids("SELECT id FROM recordings WHERE label = :r AND part_of IS NULL ORDER BY stored_order") or found

    def recording(self, reference: str, *kinds: str) -> Recording:
        found = self.recordings_of([self.resolve(reference, *kinds)])
        if not found:
            raise DamagedNotebookError(f"{reference} is in an index and nowhere else")
        return found[0]

    def recordings_of(self, ids: Sequence[str]) -> list[Recording]:
        rows = self._rows_of("SELECT * FROM recordings WHERE id IN (ids)", ids)
        found = {one.id: one for one in self._recordings(rows)}
        return [found[one] for one in ids if one in found]

    def kinds_of(self, ids: Sequence[str]) -> dict[str, str]:
        """By id, also of recordings that cannot be read otherwise."""
        sql = "SELECT id, kind FROM recordings WHERE id IN (ids)"
        return {
            str(recording_id): str(kind)
            for asked, some in in_parts(sql, ids)
            for recording_id, kind in self._db.execute(asked, some)
        }

    def recordings(
        self, kind: str | None = None, *, limit: int | None = None, parts: bool = False, part_of: str | None = None
    ) -> list[Recording]:
        rows = self._rows(
            "SELECT * FROM recordings WHERE (?1 IS NULL OR kind = ?1)"
            " AND CASE WHEN ?2 IS NOT NULL THEN part_of = ?2 ELSE ?3 OR part_of IS NULL END"
            " ORDER BY created_at DESC, stored_order DESC LIMIT ?4",
            (kind, part_of, parts, -1 if limit is None else limit),
        )
        return self._recordings(rows)

    def count_recordings(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM recordings WHERE part_of IS NULL").fetchone()[0])

    def _recordings(self, rows: Iterable[Row]) -> list[Recording]:
        running = self.running()
        return [_recording_from_row(row, running.get(row["id"])) for row in rows]

    def left_over(self) -> list[Recording]:
        sql = (
            "SELECT * FROM recordings WHERE leftovers IS NOT NULL AND imported_at IS NULL"
            " AND ifnull(content ->> '$.choices.keep_files', 0) = 0 ORDER BY created_at"
        )
        return [one for one in self._recordings(self._rows(sql)) if not one.running]

    def take(self, recording_id: str) -> None:
        with self._db.atomic():
            found = self.recordings_of([recording_id])
            if not found:
                raise RefusedError(f"{recording_id} is in the notebook no more; measure a new one")
            if owner := found[0].lease:
                raise RefusedError(
                    f"{held_text(recording_id, owner, found[0].kind)}: wait for its end, or end that process"
                )
            row = {"recording_id": recording_id, **asdict(records.this_process())}
            self._db.table("leases").insert(row, replace=True)

    def renew(self, recording_id: str) -> None:
        with self._db.atomic():
            self._db.execute(
                "UPDATE leases SET renewed_at = ? WHERE recording_id = ?", (records.utc_now(), recording_id)
            )

    def release(self, recording_id: str) -> None:
        with self._db.atomic():
            self._db.execute("DELETE FROM leases WHERE recording_id = ?", (recording_id,))

    def running(self) -> dict[str, records.Owner]:
        """Who measures a recording now, or a part of it."""
        sql = "SELECT leases.*, part_of FROM leases LEFT JOIN recordings ON recordings.id = recording_id"
        owners = [(row, owner_from_row(row)) for row in self._rows(sql)]
        alive = [(row, owner) for row, owner in owners if records.is_alive(owner)]
        wholes = {row["part_of"]: owner for row, owner in alive if row["part_of"]}
        return wholes | {row["recording_id"]: owner for row, owner in alive}

    def remove(self, recording_id: str) -> Removed:
        """Remove with parts. Raises RefusedError while it is measured, UnknownReferenceError where it is gone."""
        recording = self.recording(recording_id)
        ids = [recording.id, *(part.id for part in self.recordings(part_of=recording.id))]
        running = self.running()
        for one in ids:
            if one in running:
                raise RefusedError(f"{held_text(recording.id, running[one], recording.kind)}, so it is not deleted")
        with self._db.atomic():
            rows = self._rows_by_table(ids)
            based = self._rows_of("SELECT id, base_id FROM series WHERE base_id IN (ids)", ids)
            followers = tuple((row["id"], row["base_id"]) for row in based if row["id"] not in ids)
            self._db.execute("DELETE FROM recordings WHERE id = ?", (recording.id,))
        return Removed(recording=recording, rows=rows, followers=followers)

    def _rows_by_table(self, ids: Sequence[str]) -> dict[str, list[Row]]:
        return {
            table: list(self._rows_of(f"SELECT * FROM {table} WHERE {column} IN (ids)", ids))  # noqa: S608  our own names
            for table, column in _OWN_ROWS
        }

    def rows_to_move(self, recording_id: str) -> dict[str, list[Row]]:
        """The rows by table that another notebook needs so that the recording can go on there; see `take_rows`."""
        wholes = [one.part_of for one in self.recordings_of([recording_id]) if one.part_of]
        rows = self._rows_by_table([*wholes, recording_id])
        names = [series["experiment"] for series in rows["series"] if series["experiment"]]
        experiments = list(self._rows_of("SELECT * FROM experiments WHERE name IN (ids)", names))
        return {**rows, "experiments": experiments}

    def take_rows(self, rows: Mapping[str, Sequence[Row]]) -> None:
        with self._db.atomic():
            for table, _ in _OWN_ROWS:
                self._insert_all(table, rows.get(table, ()), unless_there=True)

    def remove_unread(self, recording_id: str) -> None:
        """Remove a recording that cannot be read, with its parts. Raises RefusedError while it is measured."""
        if owner := self.running().get(recording_id):
            raise RefusedError(f"{held_text(recording_id, owner, 'recording')}, so it is not deleted")
        with self._db.atomic():
            self._db.execute("DELETE FROM recordings WHERE id = ?", (recording_id,))

    def restore(self, removed: Removed) -> None:
        with self._db.atomic():
            self._db.execute("PRAGMA defer_foreign_keys = ON")
            for table, _ in _OWN_ROWS:
                self._db.table(table).insert_all(removed.rows.get(table, ()), replace=table == "baselines")
            self.follow_again(removed)

    def follow_again(self, removed: Removed) -> None:
        """Have the series that were based on what was taken out be based on what has its id now."""
        with self._db.atomic():
            for follower, base in removed.followers:
                self._db.execute("UPDATE series SET base_id = ? WHERE id = ?", (base, follower))

    def baselines(self) -> list[records.Baseline]:
        sql = "SELECT name, recording_id, set_at FROM baselines JOIN recordings ON id = recording_id"
        return [records.Baseline(**row) for row in self._rows(f"{sql} ORDER BY name, set_at, recording_id")]

    def baseline_ids(self, name: str, *kinds: str) -> list[str]:
        sql = "SELECT id, kind FROM baselines JOIN recordings ON id = recording_id WHERE name = ? ORDER BY stored_order"
        return [str(found) for found, kind in self._db.execute(sql, (name,)) if not kinds or kind in kinds]

    def set_baseline(self, name: str, *ids: str, keep: bool = False) -> None:
        """Name recordings; ``keep`` adds them to the name. Raises RefusedError, also without a valid measured run."""
        if why := why_no_baseline_name(name):
            raise RefusedError(why)
        with self._db.atomic():
            if not keep:
                for former in self.baseline_ids(name):
                    self._say(former, {f"{BASELINE}/{name}": ""})
            for head in self.recordings_of(ids):
                if head.kind == SERIES and not self._is_measured(head.id):
                    raise RefusedError(
                        f"series {head.id} has no valid measured run, so nothing can be compared with it:"
                        " complete it, or measure a new one",
                        options=f"run --resume {head.id}",
                    )
                self._say(head.id, {f"{BASELINE}/{name}": records.utc_now()})

    def _is_measured(self, series_id: str) -> bool:
        sql = "SELECT 1 FROM runs WHERE series_id = ? AND phase = 'measured' AND status = 'valid' LIMIT 1"
        return self._db.execute(sql, (series_id,)).fetchone() is not None

    def remove_baseline(self, name: str) -> None:
        with self._db.atomic():
            named = self.baseline_ids(name)
            for recording_id in named:
                with suppress(UnreadableRecordingError):  # then only its row goes
                    self._say(recording_id, {f"{BASELINE}/{name}": ""})
            if not self._db.execute("DELETE FROM baselines WHERE name = ?", (name,)).rowcount and not named:
                raise UnknownReferenceError(f"no baseline is called {name!r}; `sharebench baseline list` shows them")

    def set_new_normal(self, recording_id: str, *, on: bool = True) -> None:
        """From this recording on the path's level is the usual one: no history is pooled across."""
        self._say(recording_id, {NORMAL: "yes" if on else ""})

    def new_normals(self) -> list[str]:
        where = f"content -> '$.{SAID}.{NORMAL}' IS NOT NULL ORDER BY created_at"
        ids = [str(row[0]) for row in self._db.execute(f"SELECT id FROM recordings WHERE {where}")]  # noqa: S608  our own words
        return [one for one, texts in self.said(ids).items() if texts.texts[NORMAL].newest]

    def judge(self, table: str, key: Mapping[str, object], status: str, reason: str | None) -> bool:
        where = " AND ".join(f"{name} = ?" for name in RUNS[table])
        sql = f"SELECT 1 FROM {table} WHERE {where} AND status IN ('valid', 'rejected')"  # noqa: S608  our own names
        recording_id, *rest = (key[name] for name in RUNS[table])
        with self._db.atomic():
            if not self._db.execute(sql, (recording_id, *rest)).fetchone():
                return False
            text = "" if status == "valid" else reason or "-"
            self._say(str(recording_id), {"/".join(map(str, (table, *rest))): text})
        return True
