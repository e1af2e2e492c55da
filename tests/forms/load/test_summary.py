"""What the points of a load say, at the edges of each rule."""

from forms.load.summary import capacity_of
from storage.load.records import LoadChoices
from tests.loads import full_load, point


def test_points_of_one_size_of_file_say_nothing_of_the_capacity():
    points = (point(1, 10), point(2, 20, 190.0, size_bytes=4096), point(3, 40, 1.0, size_bytes=65536))
    found = capacity_of(full_load(points=points, choices=LoadChoices(users=(10, 20, 40), by_size=True)))
    assert found is not None
    assert (found.carried, found.not_carried) == (10, None)
    assert capacity_of(full_load(points=points[1:])) is None
