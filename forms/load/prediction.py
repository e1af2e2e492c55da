"""The clients worksheet held against a load: how many users it promises where each asks for what they did here."""

from dataclasses import dataclass
from typing import Any

from forms.worksheets.users import UsersCalculation
from storage.loads.records import Load


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What a saved worksheet of the load's server says of the load's users."""

    worksheet: str
    capacity_bytes_per_second: float
    user_bytes_per_second: float
    """What one user asks for, as measured where the fewest worked."""
    users: int

    def to_document(self) -> dict[str, Any]:
        return {
            "worksheet": self.worksheet,
            "capacity_bytes_per_second": self.capacity_bytes_per_second,
            "user_bytes_per_second": self.user_bytes_per_second,
            "users": self.users,
        }


def predicted(load: Load, name: str, worksheet: UsersCalculation) -> Prediction | None:
    """How many users the worksheet's server carries, as Using Samba reckons: its bytes a second over one user's.

    None where users take as much as they can get, without a pause, and so ask for nothing in particular.
    """
    if not load.scenario.think.seconds and not load.scenario.pace_seconds:
        return None
    points = [point for point in load.valid_points() if point.size_bytes is None]
    fewest = min(points, key=lambda each: each.users, default=None)
    if fewest is None:
        return None
    each = ((fewest.read_bytes_per_second or 0.0) + (fewest.write_bytes_per_second or 0.0)) / fewest.users
    if not each:
        return None
    return Prediction(
        worksheet=name,
        capacity_bytes_per_second=worksheet.capacity_bytes_per_second,
        user_bytes_per_second=each,
        users=int(worksheet.capacity_bytes_per_second / each),
    )
