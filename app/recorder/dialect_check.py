"""The SMB dialect of a session, held against what the notebook saw of the same server before."""

from dataclasses import dataclass

from app.measure.events import Warned
from forms.tuning.negotiated import dialect_rank
from forms.wording import plain
from storage.notebook import Notebook
from storage.records import Series


@dataclass(frozen=True, slots=True)
class DialectSeen:
    """The newest dialect of a server in the notebook."""

    dialect: str = ""
    """Empty where none was seen."""

    @classmethod
    def of(cls, series: Series, notebook: Notebook) -> "DialectSeen":
        """What this client spoke with the series' server before, measured here and not imported."""
        if not series.target.abilities.has_dialect:
            return cls()
        seen = notebook.dialects_of(series.target, series.client.name)
        return cls(max(seen, key=dialect_rank, default=""))

    def facts(self, series: Series) -> dict[str, str]:
        """The fact to keep with a series whose session speaks an older one."""
        return {"smb.dialect_before": self.dialect} if self._is_newer_than(series.client.dialect) else {}

    def warning(self, series: Series) -> Warned | None:
        """What to tell of a session that speaks an older one."""
        now = series.client.dialect
        if not self._is_newer_than(now):
            return None
        return Warned(
            text=f"{plain(series.target.host)} speaks SMB {now} now, and spoke {self.dialect} before: if nobody lowered"
            " server max protocol there, look for who changes the negotiation on the way; encryption takes SMB 3 alone"
        )

    def _is_newer_than(self, dialect: str | None) -> bool:
        return bool(self.dialect and dialect) and dialect_rank(self.dialect) > dialect_rank(dialect or "") >= 0
