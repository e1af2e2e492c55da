"""Two settings changed together: every cell of a grid is set whole, and one undo script puts both back."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.changes.find import Ways, find_setting
from app.changes.journal import Journalled, begin_change, restore_entry
from app.changes.script import part_of
from app.changes.server import ConflictError, new_change_id, set_arm
from app.changes.setting import ChangeableSetting
from app.changes.several import plan_of
from app.workflows.trial_order import grid_plan
from storage.changes import TrialPlan
from storage.notebook import Notebook
from tests.servers.smbd import Smbd

pytestmark = pytest.mark.xdist_group("sshd")


@pytest.fixture(scope="module")
def samba() -> Iterator[Smbd]:
    found = Smbd()
    try:
        found.start()
        yield found
    finally:
        found.stop()


def effective(
    settings: tuple[ChangeableSetting, ...], plan: TrialPlan, notebook: Notebook, *, then: Path | None = None
) -> list[tuple[str | None, ...]]:
    """What is in effect in each arm, the last as it is once everything is put back."""
    change = plan_of(settings, new_change_id(), plan.arms)
    about = Journalled(
        experiment="sweep of it", kind=plan.kind, name=plan.name, machine=settings[0].machine, ssh=None,
        effective_before=plan.previous,
    )  # fmt: skip
    entry = begin_change(change, about, notebook)
    answers = [set_arm(change, arm, None) for arm in range(len(plan.values) + 1)]
    if then:
        before = then.read_bytes()
        then.write_bytes(before + b"# mine\n")
        with pytest.raises(ConflictError):
            restore_entry(entry, notebook)
        then.write_bytes(before)
    answers.append(restore_entry(entry, notebook))
    return [tuple(one.effective(part_of(answer, at)) for at, one in enumerate(settings)) for answer in answers]


@pytest.fixture
def notebook(tmp_path: Path) -> Iterator[Notebook]:
    with Notebook(tmp_path / "notebook.db") as found:
        yield found


def test_two_parameters_stand_in_one_file_of_ours(samba: Smbd, notebook: Notebook):
    before, ways = samba.conf.read_bytes(), Ways(smb_conf=str(samba.conf))
    first = find_setting("aio read size", ["0", "1"], samba.target("x"), ways)
    second = find_setting("server signing", ["mandatory", "default"], samba.target("x"), ways)
    plan = grid_plan((first, second), looks=(8,))
    assert plan.values == ("0, mandatory", "0, default", "1, mandatory"), "1 with default is what is there"
    found = effective((first, second), plan, notebook, then=samba.root / "sharebench.conf")
    assert found == [("1", "default"), ("0", "required"), ("0", "default"), ("1", "required"), ("1", "default")]
    assert samba.conf.read_bytes() == before
    assert sorted(one.name for one in samba.root.iterdir() if "sharebench" in one.name) == []


def test_settings_of_different_kinds_are_put_back_by_one_script(samba: Smbd, notebook: Notebook, tmp_path: Path):
    before, mark = samba.conf.read_bytes(), tmp_path / "applied"
    first = find_setting("aio read size", ["0"], samba.target("x"), Ways(smb_conf=str(samba.conf)))
    second = find_setting("stripe", [], samba.target("x"), Ways(apply=f"touch {mark}", revert=f"rm {mark}"))
    plan = grid_plan((first, second), looks=(8,))
    found = effective((first, second), plan, notebook)
    assert found == [("1", "as it was"), ("0", "applied"), ("1", "as it was")]
    assert samba.conf.read_bytes() == before
    assert not mark.exists()
