"""How much a diagnosis creates, and how much of the free space it may take."""

import pytest

from app.errors import NoSpaceError, UsageError
from app.subjects.diagnosis.plan import SIZES, Sizes
from app.subjects.diagnosis.run import parse_stages
from storage.diagnoses import Effort, StageName, stages_of

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
    assert SIZES[Effort.QUICK].amount((StageName.SMALL_FILES,), own_folders=True) == (128, 128 * 16 * 1024)


def test_stages_are_measured_in_their_own_order():
    assert parse_stages(" folders, connect,") == (StageName.CONNECT, StageName.FOLDERS)
    assert parse_stages("") == ()
    with pytest.raises(UsageError, match="did you mean connect"):
        parse_stages("conect")
