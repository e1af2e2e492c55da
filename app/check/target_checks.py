"""The checks of ``sharebench check`` that ask the server: its address, the login, the share, and the file or folder."""

from collections.abc import Iterator, Mapping
from contextlib import suppress

from app.base import errors, own_names
from app.check import surroundings
from app.check.checked import Checked, CheckState
from app.clients import refusals
from app.clients.base import Client, Content, Meter
from app.clients.written_otherwise import as_it_is_written
from app.recording.process import RunGate
from app.recording.spec import SeriesSpec
from app.series.earlier_rate import measured_rate
from app.server.facts import Environment
from forms import wording
from forms.audit import share_access
from forms.findings.rules_series import why_hidden
from forms.series.file_size import FileFit, FileSizeContext
from forms.series.wording import suitability
from forms.tuning import fact_names
from storage import records
from storage.notebook import Notebook

_MOST_NAMED_FILES = 8
"""Of a folder where a file is to be named."""


def check_refusal(target: records.Target, error: errors.MeasurementError, server: records.Facts) -> Iterator[Checked]:
    """Where connecting ended with an error: what was reached before it, what failed, and what is known of why.

    ``server`` are the facts of the server, as far as they could be read.
    """
    if isinstance(error, errors.UnreachableError):
        yield Checked("reach", str(error), CheckState.FAILED)
        return

    yield Checked("reach", f"{target.host} answers on port {target.port}")
    yield Checked(_failed_step(error), str(error), CheckState.FAILED)
    yield from _known_causes(target, error, server)


def _failed_step(error: errors.MeasurementError) -> str:
    """The name of the check that an error fails."""
    is_of_share = errors.NoSuchShareError | errors.ShareDeniedError | errors.GuestDeniedError | errors.ElsewhereError
    if isinstance(error, is_of_share):
        return "share"
    return "log in" if isinstance(error, errors.LoginError) else "connect"


def _known_causes(target: records.Target, error: errors.MeasurementError, server: records.Facts) -> Iterator[Checked]:
    """What the server's settings say of what it refused: what is certain, else what may be."""
    if not refusals.may_be_of_settings(error):
        return

    reasons = share_access.reasons_not_opened(server)
    if reasons:
        yield Checked("cause", "; ".join(reasons), CheckState.FAILED)
        return

    settings = refusals.settings_that_may_refuse(error, server)
    is_of_share = isinstance(error, errors.ShareDeniedError | errors.GuestDeniedError)
    if settings:
        yield Checked("cause", share_access.possible_text(settings), CheckState.ATTENTION)
    elif is_of_share and any(name.startswith(fact_names.PARAMETER_PREFIX) for name in server):
        text = "no setting of smb.conf refuses it: look at the rights of the folder and at the share's own permissions"
        yield Checked("cause", f"{text} (sharesec {target.share} --view)", CheckState.UNKNOWN)


def check_login(
    target: records.Target, facts: records.ClientFacts, path_facts: Mapping[str, str | int | float]
) -> Iterator[Checked]:
    """Where the client is connected: how far away the server is, and as whom and how it was logged in."""
    protocol = target.abilities
    if protocol.is_local:
        return

    round_trip = path_facts.get("tcp.least_round_trip_seconds")
    away = f", {wording.milliseconds(round_trip)} away" if isinstance(round_trip, int | float) else ""
    yield Checked("reach", f"{target.host} answers on port {target.port}{away}")

    user = target.user or protocol.guest
    became_guest = bool(target.user) and path_facts.get("smb.guest") == "yes"
    words = [f"as {user}"] if protocol.has_login else [f"{protocol.name} has no login"]
    if became_guest:
        words = [f"as guest, not as {user}"]
    if facts.dialect:
        words.append(f"SMB {facts.dialect}")
    if facts.signing:
        words.append("not signed" if facts.signing == "none" else f"signed ({facts.signing})")
    if facts.encryption:
        words.append("not encrypted" if facts.encryption == "none" else f"encrypted ({facts.encryption})")
    if became_guest:
        words[-1] += ": the server does not know the user, or not with this password (Samba: map to guest); check both"
    yield Checked("log in", ", ".join(words), CheckState.ATTENTION if became_guest else CheckState.FINE)

    if path_facts.get("ftp.size") == "no":
        text = "the server has none: no file can be got, and nobody can compare what it stores; look at its log"
        yield Checked("SIZE", text, CheckState.UNKNOWN)


def check_share(target: records.Target, client: Client) -> Iterator[Checked]:
    """The share, or where none is named those that the server offers."""
    if not target.abilities.has_share:
        return
    if target.share:
        yield Checked("share", target.share)
        return

    names = client.shares()
    text = f"name one of {', '.join(names)}" if names else "the server lists none; ask its admin for a name"
    yield Checked("share", f"{text}: {records.format_target(target)}/SHARE/PATH", CheckState.ATTENTION)


def check_file(
    target: records.Target, spec: SeriesSpec, client: Client, environment: Environment, notebook: Notebook | None
) -> Iterator[Checked]:
    """The file to get, or the folder to put into; nothing where the target has neither."""
    if not target.abilities.moves_files or (target.abilities.has_share and not target.share):
        return

    try:
        if spec.command is records.Command.PUT:
            yield _folder_to_write(target, client)
        else:
            yield _file_to_read(target, client, _file_size_context(target, spec, environment, notebook))
    except errors.MeasurementError as error:
        reasons = [str(error)]
        if isinstance(error, errors.NoSuchFileError):
            reasons += [why_hidden(environment.server, target) or "", as_it_is_written(client, target)]
        yield Checked("file", "; ".join(filter(None, reasons)), CheckState.FAILED)
        yield from _why_not_written(spec, error, environment)


def _why_not_written(spec: SeriesSpec, error: errors.MeasurementError, environment: Environment) -> Iterator[Checked]:
    """The settings of the share that may refuse a new file; nothing where none is known, or it is no such error."""
    is_refused_put = spec.command is records.Command.PUT and isinstance(error, errors.AccessDeniedError)
    settings = share_access.settings_against_writing(environment.server) if is_refused_put else []
    if settings:
        yield Checked("cause", share_access.possible_text(settings), CheckState.ATTENTION)


def _file_size_context(
    target: records.Target, spec: SeriesSpec, environment: Environment, notebook: Notebook | None
) -> FileSizeContext:
    """What a file is judged by, as in the guide: the link, the server's memory and an earlier series."""
    memory = environment.server.get("memory_bytes")
    earlier_rate = None
    if notebook is not None:
        earlier_rate = measured_rate(notebook, target, spec.command, spec.settings.block_bytes)
    return FileSizeContext(
        link_bits_per_second=surroundings.link_bits_per_second(spec, environment),
        measured_bytes_per_second=earlier_rate,
        memory_bytes=int(memory) if isinstance(memory, int | float) else None,
    )


def _folder_to_write(target: records.Target, client: Client) -> Checked:
    """Puts a file of one byte there, and removes it."""
    path = own_names.new_scratch_path(target)
    try:
        nobody_cancels = RunGate().cancelled
        client.put(path, Content(1), Meter(nobody_cancels))
    except BaseException:  # also where the check is cancelled
        with suppress(errors.MeasurementError):
            client.remove(path)
        raise
    client.remove(path)
    return Checked("folder", f"a file can be written in {records.format_target(target)} and removed")


def _file_to_read(target: records.Target, client: Client, context: FileSizeContext) -> Checked:
    name = target.path.rsplit("/", 1)[-1] or "/"
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
    state = CheckState.FINE if fit.word in {FileFit.WELL, FileFit.SHORT, FileFit.UNKNOWN} else CheckState.ATTENTION
    return Checked("file", f"{name}, {wording.binary_size(size_bytes)}. {fit.reason}", state)


def _folder_text(client: Client, path: str) -> str:
    files = [entry.name for entry in client.list(path) if not entry.is_folder]
    text = f"a folder with {wording.count(len(files), 'file')}"
    if not files:
        return text
    first_names = ", ".join(files[:_MOST_NAMED_FILES])
    more = ", …" if len(files) > _MOST_NAMED_FILES else ""
    return f"{text} ({first_names}{more})"
