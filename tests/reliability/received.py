"""Hostile peers of push and pull: each answer is right but for one place, and every kind of place has its turn.

After each the notebook can be read, every id is its own recording, what was measured is what it was, and the command
ended with a line. Case n follows from n alone, so that parts can be shared and resumed.
"""

import copy
import io
import json
import math
import random
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

from app.cli.main import run
from app.exchange import giving, taking
from storage.notebook import Notebook
from tests.builders import one
from tests.recordings import MAKERS
from tests.reliability.figures import Clock, Figures, Share
from tests.reliability.fuzz_inputs import VALUES
from tests.reliability.hostile import STEERING

CASES = 200
_OTHER_FIGURES = 8
"""This one of ten cases has a series whose figures are others than the stored ones."""
OWN = one(20).id
"""Measured here."""
_KINDS = ("series", "load", "isolation", "audit", "trial")
_CODES = {0, 2, 4}
_MEASURED = (
    "SELECT series_id, phase, number, size_bytes, seconds FROM runs",
    "SELECT load_id, number, json_extract(figures, '$.requests') FROM load_points",
    "SELECT isolation_id, round, layer, clients, seconds, bytes_per_second FROM layer_runs",
)
_Place = tuple[str | int, ...]
_NAMED_AS_OURS = (OWN, "last", "before", "-x", "--yes", "never", "9999-99-99T99:99:99.000Z", "x" * 100_000)
_WHOLE_ANSWERS: Sequence[Any] = (
    5,
    None,
    True,
    "ids entries",
    [],
    {},
    [[[]]],
    {"ids": None, "entries": None},
    {"ids": []},
)
_NOW = "2026-11-28T08:03:42.847Z 00000000"


def _versions(text: Any) -> dict[str, Any]:
    return {"now": {_NOW: text}}


_TEXTS: Sequence[dict[str, Any]] = (
    {"baseline/nightly": _versions("never")},
    {f"baseline/{OWN}": _versions("2026-11-28T08:03:42.847Z")},
    {"baseline/last": _versions("2026-11-28T08:03:42.847Z")},
    {"baseline/-x": _versions("2026-11-28T08:03:42.847Z")},
    {"baseline/": _versions("2026-11-28T08:03:42.847Z")},
    {"baseline/a\x1b[2J": _versions("2026-11-28T08:03:42.847Z")},
    {"runs/measured/1/2": _versions("x")},
    {"runs": _versions("x")},
    {"layer_runs/1/disk/2/3": _versions("x")},
    {"decision": _versions("x")},
    {"experiment": _versions("x")},
    {"normal": _versions("maybe")},
    {"unheard of": _versions("x")},
    {"label": {"now": {}}},
    {"label": {"now": {"never 00000000": "x"}}},
    {"note": {"now": {_NOW: "x\n\n" * 10_000}, "past": ["x"]}},
)


def campaign(seconds: float, *, share: Share | None = None, most: int = CASES) -> Figures:
    share = share or Share()
    clock = Clock(seconds)
    with tempfile.TemporaryDirectory(prefix="sharebench-received-") as folder:
        peers = _Peers(Path(folder))
        for number in share.of_mine(range(most)):
            if clock.is_over():
                break
            if share.has(str(number)):
                continue
            with share.carrying_out(str(number)) as figures:
                wrong = peers.talk(number, figures)
                figures.losses += [f"case {number}: {what}" for what in wrong]
    return share.figures


class _Peers:
    def __init__(self, folder: Path) -> None:
        self._ours = folder / "ours.db"
        self._db = folder / "case.db"
        theirs = folder / "theirs.db"
        with Notebook(theirs) as peer, Notebook(self._ours) as notebook:
            ids = [MAKERS[kind](peer) for kind in _KINDS]
            notebook.add(one(20))
            notebook.set_baseline("before", OWN)
            taking.take(notebook, json.loads(json.dumps(giving.next_part(peer, ids)[1])), "nas")
            for recording_id in ids:
                peer.describe(recording_id, note="seen there", label="theirs")
            peer.add(one(30))
            self._state = giving.notebook_state(peer)
            done, entries = giving.next_part(peer, list(self._state))
            self._part = json.loads(json.dumps({"ids": done, "entries": entries}))
        with closing(sqlite3.connect(self._ours)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._ids = [row[0] for row in connection.execute("SELECT id FROM recordings ORDER BY id")]
        self._before = _measured(self._ours)
        self._places = _kinds_of_places(self._part)

    def talk(self, number: int, figures: Figures) -> list[str]:
        """What is wrong after a conversation with that peer."""
        for file in self._db.parent.glob("case.db*"):
            file.unlink()
        shutil.copyfile(self._ours, self._db)
        wrong = list(self._converse(number, figures))
        figures.counts["peers"] += 1
        code, out, err = _said(self._db, ["list", "--json"])
        if code or {recording["id"] for recording in json.loads(out)} < {OWN}:
            wrong.append(f"the notebook cannot be read: {err[-200:]}")
        if _said(self._db, ["baseline", "list"])[0]:
            wrong.append("the baselines cannot be listed")
        for recording_id in [*random.Random(number).sample(self._ids, 2), OWN]:
            code, out, err = _said(self._db, ["show", recording_id, "--json"])
            if code or json.loads(out)["id"] != recording_id:
                wrong.append(f"{recording_id} is not its own: {err[-200:]}")
        after = _measured(self._db)
        if not self._before <= after or {row[0] for row in after - self._before} & {row[0] for row in self._before}:
            wrong.append("what was measured was changed")
        return wrong

    def _converse(self, number: int, figures: Figures) -> Iterator[str]:
        chance = random.Random(number)
        given = self._changed_part(number, chance)
        turn = number % 4
        if turn == 3:
            figures.counts["pushes to us"] += 1
            entries = given.get("entries") if isinstance(given, dict) else given
            yield from _wrong_with(_said(self._db, ["share-worker", "take"], json.dumps(entries)))
            return

        changed_state = copy.deepcopy(self._state)
        if turn == 1:
            key = chance.choice(list(changed_state))
            changed_state[chance.choice([key, *map(str, _NAMED_AS_OURS)])] = chance.choice([*VALUES, [*VALUES]])
        answers = {
            "state": changed_state,
            "give": given,
            "take": chance.choice([given, {"new": VALUES, "changed": [OWN]}]),
        }

        def ask(_host: str, word: str, _text: str = "") -> bytes:
            return json.dumps(answers[word]).encode()

        word = "push" if turn == 2 else "pull"
        figures.counts["pushes" if turn == 2 else "pulls"] += 1
        with patch("app.exchange.peers._ask", ask):
            yield from _wrong_with(_said(self._db, [word, "nas"]))

    def _changed_part(self, number: int, chance: random.Random) -> Any:
        if number < len(_WHOLE_ANSWERS) * 4 and number % 4 == 0:
            return _WHOLE_ANSWERS[number // 4]
        part = copy.deepcopy(self._part)
        if number % 10 == _OTHER_FIGURES:
            _change_figures(part, chance)
            return part
        if number % 5 == 4:
            texts = chance.choice(part["entries"])["texts"]
            recording_id = chance.choice(list(texts))
            odd = _TEXTS[number // 5 % len(_TEXTS)]
            texts[recording_id] = chance.choice([[texts[recording_id][0], odd]] * 5 + [1, 3, None, [1, 2, 3]])
            return part
        count = len(self._places)
        step = next(step for step in range(count * 5 // 13, count + 2) if math.gcd(step, count) == 1)
        *way, last = self._places[number * step % count]
        place: Any = part
        for key in way:
            place = place[key]
        place[last] = _odd(place[last], chance)
        return part


def _change_figures(part: Any, chance: random.Random) -> None:
    """A series goes on from other runs than those that were stored of it."""
    documents = [entry["document"] for entry in part["entries"] if entry["document"]["schema"] == "sharebench/series/1"]
    for document in documents:
        runs = document["runs"]
        chance.choice(runs)["seconds"] *= chance.choice([0.5, 2.0, 1.001])
        runs.append({**runs[-1], "number": runs[-1]["number"] + 1})


def _odd(value: Any, chance: random.Random) -> Any:
    """Another value: of another type, of another recording, or a bit beside the right one."""
    beside = [value + 1, -value, value * 2] if isinstance(value, int | float) else []
    return copy.deepcopy(chance.choice([*VALUES, *_NAMED_AS_OURS, *beside * 5]))


def _kinds_of_places(part: Any) -> list[_Place]:
    """A place of each kind: of the elements of a list the last stands for all."""
    found: dict[tuple[str, ...], _Place] = {}
    for place in _places(part):
        found[tuple("[]" if isinstance(key, int) else key for key in place)] = place
    return list(found.values())


def _places(value: Any, at: _Place = ()) -> Iterator[_Place]:
    if at:
        yield at
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        yield from _places(each, (*at, key))


def _measured(db: Path) -> set[tuple[Any, ...]]:
    with closing(sqlite3.connect(db)) as connection:
        return {row for sql in _MEASURED for row in connection.execute(sql)}


def _said(db: Path, words: list[str], stdin: str = "") -> tuple[int, str, str]:
    given = io.TextIOWrapper(io.BytesIO(stdin.encode("utf-8", "surrogatepass")), encoding="utf-8")
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err), patch.object(sys, "stdin", given):
        code = run(["--db", str(db), *words], lambda *_a, **_k: 0)
    out.flush()
    err.flush()
    said = [stream.detach().getvalue().decode(errors="replace") for stream in (out, err)]
    return code, said[0], said[1]


def _wrong_with(answer: tuple[int, str, str]) -> Iterator[str]:
    code, out, err = answer
    if code not in _CODES or "fault in sharebench" in err or "Traceback" in err or "notebook is damaged" in err:
        yield f"exit {code}: {err[-300:]}"
    if "could not be read or written" in err:
        yield f"the notebook is blamed: {err[-300:]}"
    if STEERING.search((out + err).replace("\n", "")):
        yield "it steers a terminal"
