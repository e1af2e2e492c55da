"""Which settings a tuning tries: what an audit of the server proposes, then the safe ones of the catalogue."""

from collections.abc import Sequence

from app.audit.engine import audit_server
from app.audit.server_session import AuditRequest
from app.base.errors import UsageError
from app.recording.spec import SeriesRequest
from app.server.changes.setting import Ways
from forms.audit.remedies import Remedy, remedies
from forms.tuning import catalogue
from forms.tuning.smb_conf import spelling
from forms.tuning.trial_rules import data, is_never_changed


def proposed_by_audit(request: SeriesRequest, ways: Ways, only: Sequence[str]) -> tuple[Remedy, ...]:
    """Audit the server; the settings that it proposes, the costliest finding first.

    Of ``only``, where names are given.
    """
    wanted_names = {spelling(name).name for name in only}
    audit = audit_server(AuditRequest(target=request.target, ssh=ways.ssh, smb_conf=ways.smb_conf)).audit
    return tuple(remedy for remedy in remedies(audit.findings) if not wanted_names or remedy.name in wanted_names)


def candidates(only: Sequence[str] = ()) -> list[tuple[str, str]]:
    """smb.conf parameters and values of the catalogue in order of impact, without those that need a restart.

    Of ``only``, where names are given.
    """
    wanted_names = {spelling(name).name for name in only}
    pairs: dict[tuple[str, str], None] = {}
    for entry in catalogue.entries():
        name = spelling(entry.parameter).name
        if not _is_candidate(entry, name) or (wanted_names and name not in wanted_names):
            continue

        values_without_gain = data()["no_gain"].get(name, ())
        for value in entry.values:
            if value not in values_without_gain:
                pairs[entry.parameter, value] = None
    return list(pairs)


def _is_candidate(entry: catalogue.CatalogueEntry, name: str) -> bool:
    """Whether the parameter may be changed, without a warning, and takes effect without a restart of smbd."""
    is_of_samba = entry.kind is catalogue.EntryKind.SMB_CONF
    is_usable = is_of_samba and entry.status is catalogue.Status.EXISTS and not entry.warning
    acts_at_once = entry.takes_effect not in {catalogue.Effect.NEVER, catalogue.Effect.RESTART}
    return is_usable and acts_at_once and not is_never_changed(name)


def check_names(only: Sequence[str]) -> None:
    """Raises UsageError for a name that a tuning does not try."""
    known_names = {spelling(name).name for name, _ in candidates()}
    for name in only:
        if spelling(name).name not in known_names:
            raise UsageError(f"--only {name!r}: tune does not try it; it tries {', '.join(sorted(known_names))}")
