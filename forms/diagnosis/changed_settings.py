"""Which settings of the server changed from one diagnosis to the next, where both could read them."""

from forms import wording
from forms.tuning.smb_conf import spelling
from storage.looks import AuditScope, Diagnosis

_MOST_TOLD = 3
"""Settings that are named; of more it is the number."""


def changed_settings(base: Diagnosis, other: Diagnosis) -> list[str] | None:
    """By ``[section] name``, those that differ; None where not both could read them."""
    before = _settings_for_share(base)
    after = _settings_for_share(other)
    if before is None or after is None:
        return None
    names = dict.fromkeys([*before, *after])
    return [name for name in names if before.get(name) != after.get(name)]


def parameter_of(name: str) -> str:
    """Of ``[section] name`` the name alone, as Samba spells it."""
    return spelling(name.partition("] ")[2]).name


def changed_settings_text(base: Diagnosis, other: Diagnosis) -> str:
    """``Changed meanwhile: [photos] sync always: Yes → not set.``; empty where none did, or that is not known."""
    changed = changed_settings(base, other)
    if changed is None:
        return ""
    if not changed:
        return "The settings that could be read are the same."

    before = _settings_for_share(base) or {}
    after = _settings_for_share(other) or {}
    texts = [_change_text(name, before.get(name), after.get(name)) for name in changed[:_MOST_TOLD]]
    more = f", and {len(changed) - _MOST_TOLD} more" if len(changed) > _MOST_TOLD else ""
    return f"Changed meanwhile: {', '.join(texts)}{more}."


def _change_text(name: str, before: str | None, after: str | None) -> str:
    values = ["not set" if value is None else wording.plain(value) or "(empty)" for value in (before, after)]
    return f"{wording.plain(name)}: {' → '.join(values)}"


def _settings_for_share(diagnosis: Diagnosis) -> dict[str, str] | None:
    """By ``[section] name``, those of [global] and of the share; None where they were not all read."""
    audit = diagnosis.audit
    if audit is None or audit.scope is AuditScope.SESSION or audit.unread:
        return None

    sections = {"global", (diagnosis.target.share or "").casefold()}
    return {name: value for name, value in audit.settings_by_name().items() if _section_of(name) in sections}


def _section_of(name: str) -> str:
    """Of a key of `Audit.settings_by_name`."""
    return name[1:].partition("] ")[0].casefold()
