"""The diagnosis on the screen, of a real smbd."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Input

from app.base.errors import UsageError
from app.diagnosis.events import DiagnosisChanged, StageBegan
from app.diagnosis.plan import SIZES, Sizes
from app.diagnosis.run_screen import DiagnosisRunScreen
from app.diagnosis.screen import DiagnosisScreen
from app.tui.frame.app import SharebenchApp
from app.tui.frame.context import Context
from forms.diagnosis.answer import answer_so_far, diagnosis_answer
from storage.looks import Diagnosis, Effort, Stage, StageName, diagnosis_of
from storage.notebook import Notebook
from storage.records import SeriesStatus, format_target
from tests import diagnoses
from tests.diagnoses import HEALTHY
from tests.servers.smbd import Smbd
from tests.tui import here, measured, painted, press, settled

TYPED = {"target": "nas/data", "only": "", "effort": "usual", "folder": "", "link": "", "ssh": "", "conf": ""}


def test_the_lines_say_what_is_measured():
    request = DiagnosisScreen.parse(TYPED | {"only": "folders, connect", "folder": "projects", "effort": "thorough"})
    assert (request.stages, request.folder) == ((StageName.CONNECT, StageName.FOLDERS), "projects")
    assert request.effort is Effort.THOROUGH


@pytest.mark.parametrize(("typed", "link"), [("", None), ("1G", 1_000_000_000), ("100M", 100_000_000)])
def test_the_speed_of_the_link_is_typed_or_left_to_the_interface(typed: str, link: int | None):
    assert DiagnosisScreen.parse(TYPED | {"link": typed}).link_bits_per_second == link


@pytest.mark.parametrize(
    ("line", "typed", "said"),
    [
        ("target", "", "which share"),
        ("link", "fast", "fast"),
        ("target", "file:///srv", "needs a share"),
        ("only", "conect", "there is no stage 'conect'"),
        ("effort", "huge", "not 'huge'"),
        ("ssh", "root:hunter2@nas", "a password does not belong"),
    ],
)
def test_what_cannot_be_meant_is_told(line: str, typed: str, said: str):
    with pytest.raises(UsageError, match=said) as refused:
        DiagnosisScreen.parse(TYPED | {line: typed})
    assert "hunter2" not in str(refused.value)


async def test_it_asks_measures_and_shows_the_answer(tmp_path: Path, smbd: Smbd, monkeypatch: pytest.MonkeyPatch):
    tiny = Sizes(logins=1, echoes=5, files=4, streams=2, file_bytes=1024, stage_seconds=120.0)
    monkeypatch.setitem(SIZES, Effort.USUAL, tiny)
    monkeypatch.setenv("SHAREBENCH_PASSWORD", smbd.password)
    context = Context(notebook_path=tmp_path / "notebook.db")
    app = SharebenchApp(context, first="diagnosis")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.screen.query_one("#target", Input).value = format_target(smbd.target())
        app.screen.query_one("#only", Input).value = "connect,small-files"
        await press(app, pilot, "f9")
        assert "Creates at most 56 files" in " ".join(painted(app).split())
        await press(app, pilot, "left", "enter")
        await measured(app, pilot)
        with Notebook(tmp_path / "notebook.db") as notebook:
            found = diagnosis_of(notebook.recording("last", "diagnosis"))
        assert found.status is SeriesStatus.COMPLETE
        assert diagnosis_answer(found).text[:60] in painted(app)
        assert "x Export" in painted(app)
        assert here(app).doing == "Stage 2 of 2: many small files"
    assert list(smbd.folder.glob(".sharebench-*")) == []


def test_the_time_left_is_counted_down_while_a_stage_is_measured(monkeypatch: pytest.MonkeyPatch):
    now = [100.0]
    monkeypatch.setattr("app.diagnosis.run_screen.monotonic", lambda: now[0])
    screen = DiagnosisRunScreen(DiagnosisScreen.parse(TYPED))
    began = StageBegan(
        name=StageName.FOLDERS,
        number=5,
        of=8,
        seconds=60.0,
        later_seconds=40.0,
        most_seconds=170.0,
    )
    screen.take_event(0, began)
    assert screen.now().endswith("Stage 5 of 8: large folders (0 s so far); about 60 s left")
    now[0] += 15.0
    assert "about 45 s left" in screen.now()
    now[0] += 65.0
    assert "(80 s so far); about 60 s left" in screen.now()


def stage_of(name: StageName) -> Stage:
    stage = HEALTHY.stage(name)
    assert stage is not None
    return stage


def first_line_after(screen: DiagnosisRunScreen, diagnosis: Diagnosis) -> str:
    screen.take_event(0, DiagnosisChanged(diagnosis=diagnosis))
    first_line, *_ = screen.draw_heard(80).splitlines()
    return first_line


@pytest.mark.parametrize(("complaint", "is_answered"), [(None, False), (StageName.SMALL_FILES, True)])
def test_the_complaint_is_answered_as_soon_as_its_stage_is_measured(complaint: StageName | None, is_answered: bool):
    screen = DiagnosisRunScreen(DiagnosisScreen.parse(TYPED))
    stages = (stage_of(StageName.CONNECT), stage_of(StageName.DISTANCE))
    diagnosis = replace(HEALTHY, complaint=complaint, stages=stages)
    assert first_line_after(screen, diagnosis).startswith("✓ the distance")

    first_line = first_line_after(screen, diagnosis.with_stage(stage_of(StageName.SMALL_FILES)))
    assert first_line.startswith("✓ many small files") is not is_answered
    assert first_line.startswith("✓ Small files are as fast") is is_answered


def test_an_answer_is_shown_only_once_its_reference_no_longer_changes():
    """The distance says what small files are held against: seen 982/s, and later 864/s."""
    screen = DiagnosisRunScreen(DiagnosisScreen.parse(TYPED))
    diagnosis = replace(HEALTHY, complaint=StageName.SMALL_FILES, stages=(stage_of(StageName.SMALL_FILES),))
    assert first_line_after(screen, diagnosis).startswith("✓ many small files")

    answered = first_line_after(screen, diagnosis.with_stage(stage_of(StageName.DISTANCE)))
    assert answered.startswith("✓ Small files are as fast")


@pytest.mark.parametrize(("ceiling", "is_answered"), [(None, False), (500e6, True)])
def test_the_answer_about_transfers_waits_for_the_ceiling_of_this_client(ceiling: float | None, is_answered: bool):
    """It is read at the end, and can be what a get is held against."""
    diagnosis = replace(HEALTHY, complaint=StageName.PROTECTION, ceiling_bytes_per_second=ceiling)
    assert (answer_so_far(diagnosis) is not None) is is_answered


@pytest.mark.parametrize(
    ("stage", "sign"),
    [
        (stage_of(StageName.PROTECTION), "✓"),
        (diagnoses.protection_stage(200e6), "?"),  # a burst, faster than the link
        (diagnoses.small_files_stage(0.02), "!"),
        (Stage(name=StageName.CARDS, status=SeriesStatus.FAILED, error="the link is down"), "!"),
    ],
)
def test_only_a_stage_that_is_as_it_should_be_has_a_tick(stage: Stage, sign: str):
    screen = DiagnosisRunScreen(DiagnosisScreen.parse(TYPED))
    assert first_line_after(screen, diagnoses.healthy_but(stage)).startswith(sign)


@pytest.mark.parametrize(
    ("typed", "complaint"),
    [
        ("", None),
        ("small-files", StageName.SMALL_FILES),
        (" connect ", StageName.CONNECT),
        ("Small files", StageName.SMALL_FILES),
    ],
)
def test_the_complaint_is_one_of_the_stages_or_none(typed: str, complaint: StageName | None):
    assert DiagnosisScreen.parse(TYPED | {"complaint": typed}).complaint is complaint


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"complaint": "small-file"}, "did you mean small-files"),
        ({"complaint": "settings"}, "there is no complaint 'settings'"),
        ({"complaint": "cards", "only": "connect"}, "cards is answered by a stage that --only leaves out"),
    ],
)
def test_a_complaint_that_no_stage_answers_is_refused(typed: dict[str, str], said: str):
    with pytest.raises(UsageError, match=said):
        DiagnosisScreen.parse(TYPED | typed)


@pytest.mark.parametrize(("word", "is_mistake"), [("small", False), ("small-files", False), ("smell", True)])
def test_a_complaint_that_is_being_typed_is_no_mistake_yet(word: str, is_mistake: bool):
    typed = {line.key: "" for line in DiagnosisScreen.LINES} | {"target": "nas/photos", "complaint": word}
    if is_mistake:
        with pytest.raises(UsageError):
            DiagnosisScreen.plan_of(typed)
    else:
        assert DiagnosisScreen.plan_of(typed)
    with pytest.raises(UsageError) if word != "small-files" else nullcontext():
        DiagnosisScreen.parse(typed)
