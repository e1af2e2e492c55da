"""The checks of ``sharebench check`` that ask for the file to get, or for the folder to put into."""

from collections.abc import Iterator
from contextlib import suppress

from app.base import errors, own_names
from app.check import share_reasons, surroundings
from app.check.checked import Checked, CheckState
from app.clients import base
from app.clients.written_otherwise import as_it_is_written
from app.recording.process import RunGate
from app.recording.spec import SeriesSpec
from app.series.earlier_rate import measured_rate
from app.server.facts import Environment
from forms import wording
from forms.findings.rules_series import why_hidden
from forms.series import file_size
from forms.series.wording import suitability
from storage import records
from storage.notebook import Notebook

_MOST_NAMED_FILES = 8
"""Of a folder where a file is to be named."""


def check_file(
    target: records.Target, spec: SeriesSpec, client: base.Client, environment: Environment, notebook: Notebook | None
) -> Iterator[Checked]:
    """The file to get, or the folder to put into; nothing where the target has neither."""
    if not target.abilities.moves_files or (target.abilities.has_share and not target.share):
        return

    try:
        if spec.command is records.Command.PUT:
            yield _folder_to_write(target, client)
            yield from share_reasons.recycle_bin(target, environment)
        else:
            yield _file_to_read(target, client, _file_size_context(target, spec, environment, notebook))
    except errors.MeasurementError as error:
        reasons = [str(error)]
        if isinstance(error, errors.NoSuchFileError):
            reasons += [why_hidden(environment.server, target) or "", as_it_is_written(client, target)]
        yield Checked("file", "; ".join(filter(None, reasons)), CheckState.FAILED)
        yield from share_reasons.why_denied(target, spec, error, environment)


def _file_size_context(
    target: records.Target, spec: SeriesSpec, environment: Environment, notebook: Notebook | None
) -> file_size.FileSizeContext:
    """What a file is judged by, as in the guide: the link, the server's memory and an earlier series."""
    memory = environment.server.get("memory_bytes")
    earlier_rate = None
    if notebook is not None:
        earlier_rate = measured_rate(notebook, target, spec.command, spec.settings.block_bytes)
    return file_size.FileSizeContext(
        link_bits_per_second=surroundings.link_bits_per_second(spec, environment),
        measured_bytes_per_second=earlier_rate,
        memory_bytes=int(memory) if isinstance(memory, int | float) else None,
    )


def _folder_to_write(target: records.Target, client: base.Client) -> Checked:
    """Puts a file of one byte there, and removes it."""
    path = own_names.new_scratch_path(target)
    try:
        nobody_cancels = RunGate().cancelled
        client.put(path, base.Content(1), base.Meter(nobody_cancels))
    except BaseException:  # also where the check is cancelled
        with suppress(errors.MeasurementError):
            client.remove(path)
        raise
    try:
        client.remove(path)
    except errors.AccessDeniedError as error:
        raise errors.AccessDeniedError(
            f"{error}; a file could be written, not removed: remove it by hand, and let this user delete in the folder"
        ) from error
    return Checked("folder", f"a file can be written in {records.format_target(target)} and removed")


def _file_to_read(target: records.Target, client: base.Client, context: file_size.FileSizeContext) -> Checked:
    name = target.path.rstrip("/").rpartition("/")[2] or "/"
    try:
        size_bytes = client.size(target.path) if target.path.strip("/") else None
    except errors.NotAFileError:
        size_bytes = None
    if size_bytes is None:
        text = f"{name} is {_folder_text(client, target.path)}"
        return Checked(
            "file", f"{text}: name a file to get, or have one made with --make-file --size SIZE", CheckState.ATTENTION
        )

    fit = suitability(size_bytes, context)
    fits = fit.word in {file_size.FileFit.WELL, file_size.FileFit.SHORT, file_size.FileFit.UNKNOWN}
    state = CheckState.FINE if fits else CheckState.ATTENTION
    return Checked("file", f"{name}, {wording.binary_size(size_bytes)}. {fit.reason}", state)


def _folder_text(client: base.Client, path: str) -> str:
    files = [entry.name for entry in client.list(path) if not entry.is_folder]
    text = f"a folder with {wording.count(len(files), 'file')}"
    if not files:
        return text
    first_names = ", ".join(files[:_MOST_NAMED_FILES])
    more = ", …" if len(files) > _MOST_NAMED_FILES else ""
    return f"{text} ({first_names}{more})"
