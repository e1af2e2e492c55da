"""Stores what people write of recordings (labels, notes, rejections …), and does what a text says.

All texts of a recording, with their versions (:mod:`storage.shared`), are in its ``content`` under ``said``. The newest
version is read elsewhere, so storing a text writes there, too: a label is a column, the name of a baseline a row of
``baselines``, the reason why a run is rejected its status.
"""

import json
from collections.abc import Iterable, Mapping, Sequence

from storage import records, shared
from storage.base import NotebookBase
from storage.codec import Row
from storage.errors import UnreadableRecordingError
from storage.json_reader import JSONNode
from storage.shared import BASELINE, DECISION, EXPERIMENT, NORMAL, RUNS, SAID, WRITTEN_BY_PEOPLE, Texts


def _texts_from_row(row: Row) -> Texts:
    """The texts of a recording. Where the versions cannot be read they are those of its columns, which people see."""
    created_at = row["created_at"]
    from_columns = {name: shared.text_since(created_at, row[name]) for name in WRITTEN_BY_PEOPLE}
    try:
        stored = shared.texts_from_json(JSONNode(SAID, json.loads(row["said"] or "null")), created_at)
    except ValueError:
        return Texts(created_at, from_columns)
    return Texts(created_at, {**from_columns, **stored.texts})


def _with_baseline(texts: Texts, row: Row) -> Texts:
    """The texts with the name of a baseline that was given before such names were kept as texts."""
    name = f"{BASELINE}/{row['name']}"
    if name in texts.texts:
        return texts

    set_at = row["set_at"] if records.is_moment(row["set_at"]) else texts.created_at
    text = shared.text_since(texts.created_at).with_text(row["set_at"], set_at)
    return Texts(texts.created_at, {**texts.texts, name: text})


class TextTables(NotebookBase):
    def describe(self, recording_id: str, **texts: str) -> None:
        """Write a label, note or question."""
        assert set(texts) <= set(WRITTEN_BY_PEOPLE)
        self._write_texts(recording_id, texts)

    def _write_texts(self, recording_id: str, new: Mapping[str, str]) -> None:
        """Write new versions, made now, of the texts that these change; an empty text takes one back."""
        with self._db.atomic():
            for texts in self.texts_of([recording_id]).values():
                before = dict.fromkeys(new, "") | texts.newest
                changed = {name: text for name, text in new.items() if text != before[name]}
                if changed:
                    self.keep_texts(recording_id, texts.with_texts(changed, records.utc_now()))

    def texts_of(self, ids: Sequence[str]) -> dict[str, Texts]:
        """The texts of recordings, by id. Raises UnreadableRecordingError."""
        texts_by_id: dict[str, Texts] = {}
        columns = f"iif(json_valid(content), content -> '$.{SAID}', NULL) AS said, json_valid(content) AS is_json"
        for row in self._rows_of(f"SELECT *, {columns} FROM recordings WHERE id IN (ids)", ids):
            if not row["is_json"]:
                raise UnreadableRecordingError(row["id"], "content holds no JSON")
            texts_by_id[row["id"]] = _texts_from_row(row)

        for row in self._rows_of("SELECT * FROM baselines WHERE recording_id IN (ids)", ids):
            recording_id = row["recording_id"]
            if recording_id in texts_by_id:
                texts_by_id[recording_id] = _with_baseline(texts_by_id[recording_id], row)
        return texts_by_id

    def keep_texts(self, recording_id: str, texts: Texts) -> None:
        """Store the texts in place of what the recording has, and do what they say."""
        columns = "content = json_set(content, ?, json(?)), label = ?, note = ?, question = ?"
        sql = f"UPDATE recordings SET {columns} WHERE id = ?"
        newest = dict.fromkeys(WRITTEN_BY_PEOPLE, "") | texts.newest
        own_columns = [newest.pop(name) for name in WRITTEN_BY_PEOPLE]

        with self._db.atomic():
            self._db.execute(sql, (f"$.{SAID}", json.dumps(texts.to_json()), *own_columns, recording_id))
            for name, text in newest.items():
                self._apply_text(recording_id, name, text)

    def _apply_text(self, recording_id: str, name: str, text: str) -> None:
        """Do what a text says; its name is a subject, or subject and key, such as ``baseline/NAME``."""
        subject, _, key = name.partition("/")
        if subject == BASELINE:
            self._apply_baseline(recording_id, key, text)
        elif subject in RUNS:
            self._apply_rejection(subject, (recording_id, *key.split("/")), text)
        elif subject == DECISION:
            self._db.execute("UPDATE series SET decision = ? WHERE id = ?", (text or None, recording_id))
        elif subject == EXPERIMENT and text:
            self._move_to_experiment(recording_id, text)

    def _apply_baseline(self, recording_id: str, name: str, set_at: str) -> None:
        """Name the recording, or take the name back where no time is given."""
        if not set_at:
            self._db.execute("DELETE FROM baselines WHERE name = ? AND recording_id = ?", (name, recording_id))
            return

        # An older version took any name and time from another notebook.
        if shared.why_no_baseline_name(name) or not records.is_moment(set_at):
            return
        self._db.execute("INSERT OR REPLACE INTO baselines VALUES (?, ?, ?)", (name, recording_id, set_at))

    def _apply_rejection(self, table: str, keys: Sequence[str], reason: str) -> None:
        """Reject a run for a reason; an empty one takes it back. A failed run stays as it is."""
        # An older version took any key from another notebook.
        if len(keys) != len(RUNS[table]):
            return

        where = _condition(RUNS[table])
        sql = f"UPDATE {table} SET status = ?, reason = ? WHERE {where} AND status IN ('valid', 'rejected')"
        status = "rejected" if reason else "valid"
        self._db.execute(sql, (status, reason or None, *keys))

    def _move_to_experiment(self, series_id: str, name: str) -> None:
        """Follow a renaming; an experiment without series is deleted."""
        row = self._db.execute("SELECT experiment FROM series WHERE id = ?", (series_id,)).fetchone()
        old_name = row[0] if row else None
        if old_name in {None, name}:
            return

        # An experiment that is a recording has a plan, and its series stay its own.
        of_a_whole = "SELECT 1 FROM experiments WHERE name IN (?, ?) AND recording_id IS NOT NULL"
        if self._db.execute(of_a_whole, (old_name, name)).fetchone():
            return

        self._db.execute(
            "INSERT OR IGNORE INTO experiments (name, kind, subject, created_at)"
            " SELECT ?, kind, subject, created_at FROM experiments WHERE name = ?",
            (name, old_name),
        )
        self._db.execute("UPDATE series SET experiment = ? WHERE id = ?", (name, series_id))
        self._db.execute(
            "DELETE FROM experiments WHERE name = ? AND NOT EXISTS (SELECT 1 FROM series WHERE experiment = name)",
            (old_name,),
        )

    def judge(self, table: str, key: Mapping[str, object], status: str, reason: str | None) -> bool:
        """Reject a finished run (``status`` rejected), or take that back (valid); False where there is no such run.

        ``key`` has the values of the table's key by column, as in `RUNS`.
        """
        recording_id, *key_in_recording = (key[name] for name in RUNS[table])
        where = _condition(RUNS[table])
        sql = f"SELECT 1 FROM {table} WHERE {where} AND status IN ('valid', 'rejected')"
        with self._db.atomic():
            if not self._db.execute(sql, (recording_id, *key_in_recording)).fetchone():
                return False

            name = "/".join(map(str, (table, *key_in_recording)))
            text = "" if status == "valid" else reason or "-"
            self._write_texts(str(recording_id), {name: text})
        return True

    def set_new_normal(self, recording_id: str, *, on: bool = True) -> None:
        """From this recording on the path's level is the usual one: no history is pooled across."""
        self._write_texts(recording_id, {NORMAL: "yes" if on else ""})

    def new_normals(self) -> list[str]:
        """The ids of recordings from which on a path's level is the usual one."""
        where = f"content -> '$.{SAID}.{NORMAL}' IS NOT NULL ORDER BY created_at"
        rows = self._db.execute(f"SELECT id FROM recordings WHERE {where}")
        texts_by_id = self.texts_of([str(row[0]) for row in rows])
        return [recording_id for recording_id, texts in texts_by_id.items() if texts.texts[NORMAL].newest]


def _condition(columns: Iterable[str]) -> str:
    """SQL: each of the columns has the value of its parameter."""
    return " AND ".join(f"{column} = ?" for column in columns)
