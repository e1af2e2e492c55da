"""Which of a server's settings may be why it refused: the status of a refusal is the same whatever its cause."""

from app.base import errors
from forms.audit import share_access
from storage.records import Facts


def may_be_of_settings(error: errors.MeasurementError) -> bool:
    """Whether the server's settings may be why it refused, or does not go on: no name or password was wrong."""
    return isinstance(
        error,
        errors.NoSuchShareError
        | errors.ShareDeniedError
        | errors.GuestDeniedError
        | errors.LoginDeniedError
        | errors.HungUpError
        | errors.StalledError,
    )


def settings_that_may_refuse(error: errors.MeasurementError, server: Facts) -> list[str]:
    """The settings that may refuse what ended with the error; empty where none is known."""
    if isinstance(error, errors.HungUpError):
        return share_access.hang_up_settings(server)
    if isinstance(error, errors.StalledError):
        return share_access.settings_that_may_stall(server)
    if isinstance(error, errors.LoginDeniedError):
        return share_access.login_refusing_settings(server)
    if isinstance(error, errors.ShareNotOpenedError):
        return share_access.settings_that_may_close(server)
    if isinstance(error, errors.GuestDeniedError):
        return [*share_access.settings_about_users(server), *share_access.refusing_settings(server, is_guest=True)]
    if isinstance(error, errors.ShareDeniedError):
        return share_access.refusing_settings(server, is_guest=False)
    if isinstance(error, errors.LoginError):
        return share_access.settings_about_users(server)
    return []
