"""What a share's settings and rights say of a file that was denied, or of one that is removed."""

from collections.abc import Iterator

from app.base import errors, own_names
from app.check.checked import Checked, CheckState
from app.recording.recycle_bin import kept_text
from app.recording.spec import SeriesSpec
from app.server.facts import Environment
from forms.audit import share_access
from storage import records


def why_denied(
    target: records.Target, spec: SeriesSpec, error: errors.MeasurementError, environment: Environment
) -> Iterator[Checked]:
    """What may deny the file, by the server's settings and rights; nothing where none is known, or nothing was."""
    if not isinstance(error, errors.AccessDeniedError):
        return

    is_put = spec.command is records.Command.PUT
    causes = share_access.rights_that_may_refuse(environment.server, writing=is_put)
    if is_put:
        # Not the file that was refused, but one that is called like it.
        path = own_names.new_scratch_path(target)
        causes = share_access.settings_against_writing(environment.server, path) + causes
    if causes:
        yield Checked("cause", share_access.possible_text(causes), CheckState.ATTENTION)


def recycle_bin(target: records.Target, environment: Environment) -> Iterator[Checked]:
    """That the share keeps what is removed there, where its settings say so."""
    text = kept_text(target, target.path, environment.server)
    if text:
        yield Checked("recycle", text, CheckState.ATTENTION)
