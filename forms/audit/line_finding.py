"""A finding about a line of smb.conf, with what to do about it in words."""

from forms.tuning import smb_conf
from storage.looks import AuditedSetting, AuditFinding, Ruling


def line_finding(
    setting: AuditedSetting,
    key: str,
    verdict: Ruling,
    cost: int,
    reason: str,
    *,
    instead: str | None,
    word: str = "",
    move_to: str = "",
    advice: str = "",
    price: str = "",
    price_source: str = "",
    advised_by: tuple[str, ...] = (),
) -> AuditFinding:
    """A finding about a line; the arguments are as the fields of AuditFinding, but for two.

    ``instead`` is the line to write: empty to delete it, None where nobody but the user knows it. ``move_to`` is the
    section that the line belongs in, ``advice`` what to do in place of an edit.
    """
    spelled = smb_conf.spelling(setting.name)
    return AuditFinding(
        key=key,
        verdict=verdict,
        cost=cost,
        setting=setting.name,
        value=setting.value,
        why=reason,
        what_to_do=advice or _remedy_text(instead, word, move_to),
        file=setting.file,
        line=setting.line,
        section=setting.section,
        parameter=spelled.name if spelled.parameter else "",
        word=word,
        instead=instead,
        price=price,
        price_source=price_source,
        advised_by=advised_by,
    )


def _remedy_text(instead: str | None, word: str, move_to: str) -> str:
    if move_to:
        return f"Move it to {move_to}."
    if instead is None:
        return "Correct or delete the line."
    if not instead:
        return "Delete the line."
    return f"Take {word} out of the line." if word else f"Write `{instead}`."
