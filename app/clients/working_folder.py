"""The folder that a target names for files to be made in: whether it is there, and is a folder."""

from app.base import errors
from app.clients.base import Files, printer_error
from app.clients.written_otherwise import as_it_is_written


def check_folder(files: Files) -> None:
    """Raises NotAFileError or NoSuchFileError unless the target is a folder to work in; ``files`` is connected."""
    target = files.target
    if files.is_printer:
        raise printer_error(target)

    where = f"{target.host}: {target.path}" if target.host else target.path
    if not target.path.strip("/"):
        return

    try:
        is_folder = files.query(target.path).is_folder
    except errors.NoSuchFileError as error:
        # Who would make the folder as it was typed would have two of them, which look alike.
        written = as_it_is_written(files, target)
        advice = written or "make it, or name one that is there"
        raise errors.NoSuchFileError(f"{where}: there is no such folder; {advice}") from error
    if not is_folder:
        raise errors.NotAFileError(f"{where} is a file; name the folder to work in")
