"""Predicts by a worksheet of server capacity (Using Samba) how many of a load's users a server carries."""

from dataclasses import dataclass
from operator import attrgetter

from forms.worksheets.users import UsersCalculation
from storage.load import records


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """How many users a server carries by a worksheet, to be compared with what was measured."""

    worksheet: str
    """Its name."""
    capacity_bytes_per_second: float
    """Of the server, by the worksheet."""
    user_bytes_per_second: float
    """What each user moved in the load."""
    users: int
    """The first divided by the second."""


def predicted(load: records.Load, name: str, worksheet: UsersCalculation) -> Prediction | None:
    """The users that the worksheet's server carries if each asks for as much as the load's fewest users did each.

    None where users without pauses ask for all that they can get, and where nothing was moved.
    """
    if not load.scenario.think.seconds and not load.scenario.pace_seconds:
        return None

    points = [point for point in load.valid_points() if point.size_bytes is None]
    fewest = min(points, key=attrgetter("users"), default=None)
    if fewest is None:
        return None

    moved = (fewest.read_bytes_per_second or 0.0) + (fewest.write_bytes_per_second or 0.0)
    if not moved:
        return None

    user_bytes_per_second = moved / fewest.users
    return Prediction(
        worksheet=name,
        capacity_bytes_per_second=worksheet.capacity_bytes_per_second,
        user_bytes_per_second=user_bytes_per_second,
        users=int(worksheet.capacity_bytes_per_second / user_bytes_per_second),
    )
