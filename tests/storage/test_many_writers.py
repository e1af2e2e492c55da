"""Several connections that write to one notebook: they wait for each other, and none is refused."""

import sqlite3
import threading
from dataclasses import replace

import pytest

from storage.notebook import Notebook
from tests.builders import series


def test_writers_that_read_first_wait_for_each_other(tmp_path):
    path = tmp_path / "notebook.db"
    Notebook(path).close()
    faults: list[Exception] = []

    def write(name: str) -> None:
        try:
            with Notebook(path) as notebook:
                for number in range(40):
                    notebook.remember("guide", {"by": name, "number": number})
                    notebook.add(replace(series([1e6, 2e6]), id=f"{name}{number:04d}"))
        except Exception as fault:
            faults.append(fault)

    threads = [threading.Thread(target=write, args=(name,)) for name in ("a", "b", "c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    with Notebook(path) as notebook:
        assert len(notebook.heads()) == 120


def test_a_transaction_that_fails_leaves_nothing_and_the_notebook_usable(tmp_path):
    with Notebook(tmp_path / "notebook.db") as notebook:
        notebook.add(series([1e6]))
        taken_out = notebook.remove("0123456789ab")
        notebook.add(series([1e6]))
        with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
            notebook.restore(taken_out)
        assert len(notebook.heads()) == 1
        notebook.remember("guide", {"a": 1})
        assert notebook.remembered("guide") == {"a": 1}
