"""How much a diagnosis creates, and how much of the free space it may take."""

import pytest

from app.base.errors import NoSpaceError, UsageError
from app.diagnosis.card_stage import shares_of
from app.diagnosis.copy_patterns import BY_NAME, OF_AN_OPEN_FILE, affordable_files
from app.diagnosis.events import DiagnosisClosed, StageBegan
from app.diagnosis.plan import SIZES, Sizes, sizes_of
from app.diagnosis.progress_lines import PlacesProgress
from app.diagnosis.spec import DiagnosisRequest, amount_text, parse_stages
from app.recording.process import Warned
from forms.diagnosis.summary import CopyPattern, patterns
from storage.looks import Effort, StageName, stages_of
from tests.diagnoses import HEALTHY

ALL = stages_of(())
SIZE = Sizes().amount(ALL, own_folders=True)[1]


def test_a_tenth_of_the_free_space_is_used_and_no_more():
    assert Sizes().within(10 * SIZE, ALL, own_folders=True) == Sizes()
    smaller = Sizes().within(10 * SIZE - 10_000, ALL, own_folders=True)
    assert smaller != Sizes()
    assert smaller.amount(ALL, own_folders=True)[1] <= SIZE - 1_000


@pytest.mark.parametrize("share", [0.9, 0.5, 0.1, 0.02])
def test_smaller_sizes_stay_within_their_tenth(share: float):
    free = 10 * SIZE * share
    found = Sizes().within(int(free) + 1, ALL, own_folders=True)
    assert found.amount(ALL, own_folders=True)[1] <= free / 10 + 1


def test_with_less_than_a_fiftieth_of_the_bytes_nothing_is_measured():
    with pytest.raises(NoSpaceError, match="uses at most 10 % of that"):
        Sizes().within(int(10 * SIZE * 0.0199), ALL, own_folders=True)


def test_where_the_free_space_is_unknown_the_usual_sizes_are_taken():
    assert Sizes().within(None, ALL, own_folders=True) == Sizes()


def test_every_effort_says_what_it_creates():
    assert Sizes().amount((StageName.CONNECT, StageName.SETTINGS), own_folders=True) == (0, 0)
    assert SIZES[Effort.USUAL].amount((StageName.FOLDERS,), own_folders=True) == (11_000, 0)
    assert SIZES[Effort.THOROUGH].amount((StageName.FOLDERS,), own_folders=False) == (0, 0)
    assert SIZES[Effort.QUICK].amount((StageName.SMALL_FILES,), own_folders=True) == (320, 320 * 16 * 1024)


@pytest.mark.parametrize(
    ("effort", "complaint", "entries"),
    [
        (Effort.USUAL, None, 11_000),
        (Effort.USUAL, StageName.FOLDERS, 11_000),
        (Effort.USUAL, StageName.SMALL_FILES, 2_200),
        (Effort.QUICK, StageName.SMALL_FILES, 2_200),
        (Effort.THOROUGH, StageName.SMALL_FILES, 111_000),
    ],
)
def test_large_folders_are_made_where_nothing_else_is_the_complaint(
    effort: Effort, complaint: StageName | None, entries: int
):
    assert sizes_of(effort, complaint).amount((StageName.FOLDERS,), own_folders=True) == (entries, 0)


def test_stages_are_measured_in_their_own_order():
    assert parse_stages(" folders, connect,") == (StageName.CONNECT, StageName.FOLDERS)
    assert parse_stages("") == ()
    with pytest.raises(UsageError, match="did you mean connect"):
        parse_stages("conect")


@pytest.mark.parametrize("pattern", patterns(), ids=lambda one: one.key)
def test_each_program_moves_the_content_by_requests_that_are_known(pattern: CopyPattern):
    known = {"create", "open", "write", "read", "close", *OF_AN_OPEN_FILE, *BY_NAME}
    for requests, moving in ((pattern.put, ("create", "write", "close")), (pattern.get, ("open", "read", "close"))):
        assert set(requests) <= known
        assert tuple(one for one in requests if one in {"create", "open", "write", "read", "close"}) == moving
        opened = requests[requests.index(moving[0]) : requests.index("close")]
        assert {one for one in requests if one in OF_AN_OPEN_FILE} <= set(opened)
    assert pattern.source


@pytest.mark.parametrize(("open_seconds", "files"), [(0.25, 10), (0.2501, 9), (0.5, 5), (0.7, 4), (100.0, 4)])
def test_patterns_get_a_quarter_of_the_time_and_a_few_files_at_least(open_seconds: float, files: int):
    requests = sum(len(one.put) + len(one.get) for one in patterns())
    assert affordable_files(open_seconds, 4 * 2.5 * requests) == files


def test_a_card_with_more_than_a_hundredth_of_the_bytes_is_told():
    assert shares_of({"eth0": 989, "eth1": 10, "docker0": 1}) == {"eth0": 0.989}
    assert shares_of({"eth0": 980, "eth1": 11, "docker0": 9}) == {"eth0": 0.98, "eth1": 0.011}
    assert shares_of({}) == shares_of({"eth0": 0}) == {}


def test_several_machines_are_told_before_consent_with_the_time_of_all_of_them():
    request = DiagnosisRequest(target=HEALTHY.target)
    assert "Each of" not in amount_text(request)
    of_several = amount_text(request, 3)
    assert of_several.startswith("Each of 3 machines creates")
    assert of_several.partition("Takes")[2] != amount_text(request).partition("Takes")[2]
    assert amount_text(DiagnosisRequest(target=HEALTHY.target, only=(StageName.CONNECT,)), 3) == ""


def began(number: int, seconds: float, later_seconds: float) -> StageBegan:
    return StageBegan(
        name=StageName.CONNECT,
        number=number,
        of=2,
        seconds=seconds,
        later_seconds=later_seconds,
        most_seconds=100.0,
    )


def test_the_time_left_is_that_of_all_machines_that_have_begun():
    places_progress = PlacesProgress()
    assert "first: 1 of 2" in places_progress.line("first", began(1, 20.0, 10.0))
    assert "about 40 s left" in places_progress.line("second", began(1, 30.0, 15.0))
    assert "about 25 s left" in places_progress.line("second", began(2, 15.0, 0.0))
    assert places_progress.line("first", DiagnosisClosed(diagnosis=HEALTHY)) == ""
    assert places_progress.line("first", Warned(text="look")) == "sharebench: first: look"
