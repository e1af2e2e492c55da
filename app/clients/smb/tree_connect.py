"""Connecting to a share (TREE_CONNECT), and what a refusal of it means."""

import contextlib
from dataclasses import replace

from app.base import errors
from app.base.names_alike import name_alike
from app.clients.smb import session as smb_session
from app.clients.smb.impacket_errors import mapped
from app.clients.written_otherwise import with_marks_escaped
from storage import records

_MOST_NAMED = 10
"""Shares that an error lists."""


def connect_tree(session: smb_session.Session, target: records.Target, where: str) -> int:
    """The id of the connected share.

    Raises NoSuchShareError, which lists those that there are, if they can be seen; ElsewhereError for a share that is a
    link to another server's; ShareNotOpenedError for one that the server lists and does not open.
    """
    share = target.share or ""
    try:
        with mapped(where):
            return session.connection.open_share(share)
    except errors.ShareNotOpenedError:
        raise
    except errors.NoSuchShareError as error:
        names: list[str] = []
        with contextlib.suppress(errors.MeasurementError):
            names = session.share_names()
        if not names:
            raise errors.NoSuchShareError(str(error)) from error
        if share.casefold() in {name.casefold() for name in names}:
            raise _not_opened(session, target, where) from error

        alike = name_alike(share, names)
        if alike:
            url = with_marks_escaped(records.format_target(replace(target, share=alike)))
            raise errors.NoSuchShareError(f"{where}: the share is called {alike} there; write {url}") from error

        listed = names[:_MOST_NAMED]
        if len(names) > _MOST_NAMED:
            listed.append("…")
        raise errors.NoSuchShareError(f"{error} (it lists {', '.join(listed)})") from error


def _not_opened(session: smb_session.Session, target: records.Target, where: str) -> errors.MeasurementError:
    """The error for a share whose name is right: it is a link to another server, or its own server cannot open it."""
    path = ""
    with contextlib.suppress(errors.MeasurementError):
        path = session.referred_path(target.host, target.share or "")
    if path:
        return elsewhere_error(where, path)
    return errors.ShareNotOpenedError(
        f"{where}: the server lists this share and does not open it; its folder may be missing there (a disk that is "
        "not mounted), or a module of vfs objects may be missing or not start: its log tells which"
    )


def elsewhere_error(where: str, path: str) -> errors.ElsewhereError:
    return errors.ElsewhereError(f"{where}: this is a DFS link to {path}; measure that instead: smb:{path}")
