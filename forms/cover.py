"""What stands above a report that is handed over: for whom and by whom it is, and when it was made."""

from dataclasses import dataclass, replace

from forms import report, wording
from storage.records import with_zone


@dataclass(frozen=True, slots=True, kw_only=True)
class Cover:
    """Texts of who hands a report over; an empty one is left out."""

    customer: str = ""
    """For whom it is, and for which site."""
    author: str = ""
    made_at: str
    """A moment in UTC, as the notebook writes moments."""


def with_cover(page: report.Report, cover: Cover) -> report.Report:
    """The page with the lines of its cover below its answers, and a title that says for whom it is."""
    customer = wording.plain(cover.customer.strip())
    lines = report.fields_of(
        ("Prepared for", customer),
        ("Prepared by", wording.plain(cover.author.strip())),
        ("Made", with_zone(cover.made_at)),
    )
    for_whom = f", for {customer}" if customer else ""
    others = tuple(field for field in page.fields if field not in page.answers)
    return replace(page, title=f"{page.title}{for_whom}", fields=(*page.answers, *lines, *others))
