"""What a server's refusal of a share means (the status of a TREE_CONNECT): the login before it succeeded.

So no status of it is about the password, also where a login has the same one.
"""

from app.base import errors
from app.clients.smb import wire
from app.clients.smb.credentials import realm_advice

_FORCED_ACCOUNT = (
    "the login succeeded, and the share does not open; force user or force group may name an account there that the "
    "server does not know"
)
_FULL = "the share may have as many sessions as it allows (max connections), or the server is out of resources"
_NOT_OPENED = {
    "STATUS_UNSUCCESSFUL": (
        "the server does not open this share; a module of vfs objects may not start, such as full_audit with the "
        "names of operations that this Samba does not have"
    ),
    "STATUS_NO_SUCH_USER": _FORCED_ACCOUNT,
    "STATUS_NO_SUCH_GROUP": _FORCED_ACCOUNT,
    "STATUS_LOGON_FAILURE": (
        "the login succeeded, and the server cannot work as this user in the share; its account or its groups may be "
        "broken there"
    ),
    "STATUS_INSUFFICIENT_RESOURCES": _FULL,
    "STATUS_INSUFF_SERVER_RESOURCES": _FULL,
    "STATUS_REQUEST_NOT_ACCEPTED": _FULL,
}
"""By the status, what it means of a share."""


def share_refusal(status: int, where: str, user: str, *, is_guest: bool) -> errors.MeasurementError | None:
    """The error for a share that is refused; None for a status that means the same of any request.

    ``user`` is who was to be logged in, empty for a guest.
    """
    if status == wire.ACCESS_DENIED:
        return _share_denied(where, user, is_guest=is_guest)

    text = _NOT_OPENED.get(wire.status_name(status))
    if text is None:
        return None
    return errors.ShareNotOpenedError(f"{where}: {text}: its log tells which")


def _share_denied(where: str, user: str, *, is_guest: bool) -> errors.MeasurementError:
    """The status is the same whatever refuses the share."""
    if not is_guest:
        return errors.ShareDeniedError(
            f"{where}: the server refuses the share to this user; valid users, hosts allow or hosts deny, a "
            "preexec script, the rights of its folder or the share's own permissions may do that there"
        )

    known_as = "the server took this user, or the password, for unknown and logged it in as a guest; it"
    who = known_as if user else "the server"
    return errors.GuestDeniedError(
        f"{where}: {who} refuses the share to this guest; guest ok, valid users, hosts allow or hosts deny, smb "
        "encrypt or a preexec script may do that there; try it as a user that it knows: smb://USER@HOST/SHARE"
        f"{realm_advice(user)}"
    )
