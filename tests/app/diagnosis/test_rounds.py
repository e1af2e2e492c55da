"""Small files are measured in rounds, and the link is known before anything is held against it; of a real smbd."""

from __future__ import annotations

from pathlib import Path
from statistics import median

import pytest

from app.diagnosis.events import DiagnosisChanged
from app.diagnosis.file_stage import parts_of
from app.diagnosis.plan import SIZES, Sizes
from app.diagnosis.record import record_diagnosis
from app.diagnosis.spec import DiagnosisRequest
from app.recording.process import SeriesControl
from forms.diagnosis.summary import file_seconds, patterns
from storage.looks import Diagnosis, Effort, Stage, StageName
from tests.servers.smbd import Smbd

ROUNDS = 3


@pytest.fixture(scope="module")
def changes(smbd: Smbd, tmp_path_factory: pytest.TempPathFactory) -> list[DiagnosisChanged]:
    """What one diagnosis of first connect and small files tells, stage by stage."""
    sizes = Sizes(
        logins=1,
        echoes=5,
        files=10,
        streams=2,
        pattern_files=2,
        small_file_rounds=ROUNDS,
        file_bytes=1024,
        stage_seconds=120.0,
    )
    request = DiagnosisRequest(
        target=smbd.target(),
        secrets=smbd.secrets(),
        only=(StageName.CONNECT, StageName.SMALL_FILES),
    )
    notebook_path: Path = tmp_path_factory.mktemp("rounds") / "notebook.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SIZES, Effort.USUAL, sizes)
        events = list(record_diagnosis(request, notebook_path, SeriesControl()))
    return [event for event in events if isinstance(event, DiagnosisChanged) and event.stage is not None]


def measured(changes: list[DiagnosisChanged]) -> Diagnosis:
    return changes[-1].diagnosis


@pytest.mark.long
def test_the_link_is_known_as_soon_as_a_stage_has_ended(changes: list[DiagnosisChanged]):
    """Seen: a usual 982/s while it was measured, and 864/s at the end, when the link was known."""
    assert [change.diagnosis.loopback for change in changes] == [True, True]


@pytest.mark.long
def test_each_round_moves_its_part_of_the_files(changes: list[DiagnosisChanged]):
    stage = measured(changes).stage(StageName.SMALL_FILES)
    assert stage is not None
    for command in ("put", "get"):
        assert stage.of(f"{command}_files_of_round") == (3, 3, 4)
        assert len(file_seconds(stage, command)) == stage.number("files") == 10
        assert len(stage.of(f"{command}_side_by_side_files_per_second")) == ROUNDS


def test_what_a_program_takes_is_the_middle_of_its_rounds(changes: list[DiagnosisChanged]):
    stage = measured(changes).stage(StageName.SMALL_FILES)
    assert stage is not None
    for pattern in patterns():
        for command in ("put", "get"):
            name = f"{pattern.key}_{command}_seconds"
            rounds = stage.of(name)
            assert len(rounds) == ROUNDS
            assert stage.number(name) == pytest.approx(median(rounds), rel=1e-4)


@pytest.mark.parametrize(
    ("files", "rounds", "counts"), [(500, 3, [166, 167, 167]), (2, 3, [1, 1]), (1, 3, [1]), (5, 1, [5])]
)
def test_there_are_no_more_rounds_than_files(files: int, rounds: int, counts: list[int]):
    parts = parts_of(files, rounds)
    assert [part.count for part in parts] == counts
    assert (parts[0].first, parts[-1].end) == (0, files)


def test_a_stage_of_a_diagnosis_of_before_has_no_rounds():
    assert Stage(name=StageName.SMALL_FILES).of("put_files_of_round") == ()
