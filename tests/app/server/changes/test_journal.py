"""The journal of a change that could not begin."""

import pytest

from app.server.changes import script as server
from app.server.changes.script import ChangeRefusedError, ServerChange, new_change_id
from app.server.changes.setting import ChangeableSetting
from app.trial.change_journal import begin_change
from storage.changes import ChangeKind, ChangeState
from storage.notebook import Notebook


def test_where_another_trial_stands_nothing_is_left_to_restore(tmp_path, monkeypatch):
    def refused(*_: object) -> None:
        raise ChangeRefusedError("another trial stands there")

    monkeypatch.setattr(server, "begin", refused)
    monkeypatch.setattr(server, "undo", lambda *_: pytest.fail("the other trial's change was restored"))
    change = ServerChange(
        id=new_change_id(), title="x", undo_path="/x/undo.sh", check=":", before=":", arms=(":",), restore=":"
    )
    found = ChangeableSetting(
        kind=ChangeKind.SMB_CONF, name="strict sync", machine="nas", ssh=None, section="", previous="Yes",
        values=("no",), writes=(), undo_path=change.undo_path, plan=lambda _id, _values: change,
        effective=lambda _answer: None, same=lambda one, other: one == other,
    )  # fmt: skip
    with Notebook(tmp_path / "notebook.db") as notebook:
        with pytest.raises(ChangeRefusedError, match="another trial stands there"):
            begin_change(change, found, "trial of it", notebook)
        assert notebook.journal(ChangeState.OPEN) == []
        assert notebook.abandoned_changes() == []
