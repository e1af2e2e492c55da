"""Whether a server speaks an older SMB dialect than this client has seen of it before."""

from forms.tuning.session_evidence import dialect_rank
from forms.wording import plain
from storage.notebook import Notebook
from storage.records import Series


def dialect_before(series: Series, notebook: Notebook) -> str:
    """The newest dialect in the series of this client and server; "" for none. Imported series do not count."""
    if not series.target.abilities.has_dialect:
        return ""
    return max(notebook.dialects_of(series.target, series.client.name), key=dialect_rank, default="")


def lowered_text(before: str, series: Series) -> str:
    """What to say where the server speaks an older dialect than it did before; empty where it does not."""
    now = series.client.dialect or ""
    # The rank of an unknown dialect is negative.
    is_lowered = bool(before and now) and dialect_rank(before) > dialect_rank(now) >= 0
    if not is_lowered:
        return ""
    return (
        f"{plain(series.target.host)} speaks SMB {now} now, and spoke {before} before: if nobody lowered"
        " server max protocol there, look for who changes the negotiation on the way; encryption takes SMB 3 alone"
    )
