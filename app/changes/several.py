"""Settings that are changed together, as one change of the server: one journal entry, one undo script for all."""

from collections.abc import Iterable, Sequence

from app.changes.script import ServerChange, looks
from app.changes.setting import ChangeableSetting
from app.changes.smb_conf import plan_samba
from storage.changes import ChangeKind


def plan_of(settings: Sequence[ChangeableSetting], change_id: str, arms: Sequence[tuple[str, ...]]) -> ServerChange:
    """The scripts of a trial; an arm has a value for each setting, the first one of the change is as it is."""
    if len(settings) == 1:
        return settings[0].plan(change_id, [value for (value,) in arms])
    places = [one.place for one in settings if one.place and one.kind is ChangeKind.SMB_CONF]
    if len(places) == len(settings):
        return plan_samba(change_id, places, arms)
    columns = [tuple(dict.fromkeys(column)) for column in zip(*arms, strict=True)]
    changes = [one.plan(change_id, column) for one, column in zip(settings, columns, strict=True)]
    return ServerChange(
        id=change_id,
        title="; ".join(change.title for change in changes),
        undo_path=changes[0].undo_path,
        check=_joined(change.check for change in changes),
        before=_joined(change.before for change in changes),
        begin=_joined(change.begin for change in changes),
        arms=(
            _joined(change.arms[0] for change in changes),
            *(_joined(_arm(*each) for each in zip(changes, columns, arm, strict=True)) for arm in arms),
        ),
        put_back=_joined(change.put_back for change in changes),
        settle=_joined(change.settle for change in changes),
        look=looks([change.look for change in changes]),
        seconds=sum(change.seconds for change in changes),
        dead_man_seconds=max(change.dead_man_seconds for change in changes),
    )


def _arm(change: ServerChange, values: Sequence[str], value: str) -> str:
    return change.arms[1 + values.index(value)]


def _joined(texts: Iterable[str]) -> str:
    return "\n".join(text.rstrip("\n") for text in texts)
