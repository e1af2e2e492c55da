"""What a notebook's own measurements gave for a setting, beside the audit's findings and in the catalogue."""

from dataclasses import replace
from pathlib import Path

from app.cli.main import run
from app.workflows.compare import audit_form, tried_here
from forms.exporters import markdown
from storage.audits import Audit, AuditFinding, AuditScope, Ruling
from storage.notebook import Notebook
from storage.records import Change
from tests.builders import one
from tests.recordings import MAKERS

NAME = "strict sync"
FASTER = Change(name="Strict Sync", value="no", previous="yes")


def steps(notebook: Notebook, count: int) -> None:
    """A base, and so many later series of double its rate after the setting was changed."""
    notebook.add(one(1))
    for number in range(2, 2 + count):
        changed = one(number, (200e6, 201e6, 199e6, 200e6, 200e6), base_id=f"{1:012x}", change=FASTER)
        notebook.add(replace(changed, created_at=f"2026-02-{number:02}T10:00:00.000Z"))


def test_trials_sweeps_and_steps_are_told_and_other_settings_are_not(tmp_path: Path):
    with Notebook(tmp_path / "notebook.db") as notebook:
        MAKERS["trial"](notebook)
        steps(notebook, 1)
        told = tried_here(notebook, [NAME, "strict locking"])
    assert list(told) == [NAME]
    assert len(told[NAME]) == 2
    assert told[NAME][0].startswith("2026-02-02, get smb://nas/data")
    assert "Strict Sync = no: Faster by 100 %" in told[NAME][0]
    assert "Inconclusive: no difference seen in 6 pairs" in told[NAME][1]


def test_a_change_without_a_base_and_a_base_without_a_change_are_no_steps(tmp_path: Path):
    with Notebook(tmp_path / "notebook.db") as notebook:
        steps(notebook, 0)
        notebook.add(one(2, change=FASTER))
        notebook.add(one(3, base_id=f"{1:012x}"))
        assert tried_here(notebook, [NAME]) == {}


def test_only_the_newest_are_told(tmp_path: Path):
    with Notebook(tmp_path / "notebook.db") as notebook:
        steps(notebook, 4)
        told = tried_here(notebook, [NAME])[NAME]
    assert [line[:10] for line in told] == ["2026-02-05", "2026-02-04", "2026-02-03"]


def test_an_audit_and_the_catalogue_tell_it(tmp_path: Path, capsys):
    path = tmp_path / "notebook.db"
    finding = AuditFinding(
        key="unsafe", verdict=Ruling.RISKY, cost=1, setting=NAME, value="no", why="Unsafe.", what_to_do="Delete it.",
        parameter=NAME,
    )  # fmt: skip
    audit = Audit(id="a" * 12, created_at="2026-03-01T10:00:00Z", subject="nas", scope=AuditScope.FILE,
                  findings=(finding, replace(finding, verdict=Ruling.USELESS, setting="sync")))  # fmt: skip
    with Notebook(path) as notebook:
        steps(notebook, 1)
        text = markdown.render([audit_form(notebook, audit)], paper="a4").decode()
    assert text.count("Measured here 2026-02-02, get") == 2
    assert run(["--db", str(path), "catalogue", NAME], lambda *_args, **_more: 0) == 0
    assert "measured here 2026-02-02, get" in capsys.readouterr().out
    assert run(["--db", str(tmp_path / "none.db"), "catalogue", NAME], lambda *_args, **_more: 0) == 0
    assert "measured here" not in capsys.readouterr().out
