"""How an error is told in a dialog: its heading and its text."""


def describe_error(error: BaseException) -> tuple[str, str]:
    """The heading and the text of the dialog that tells an error."""
    # The first paint does not wait for what errors are told with.
    import sqlite3

    from app.base.errors import SharebenchError
    from storage.errors import NotebookFileError, RefusedError, unusable
    from storage.recordings import UnknownReferenceError

    heading = "That did not work"
    if isinstance(error, SharebenchError | NotebookFileError | RefusedError | UnknownReferenceError):
        text = str(error.args[0]) if error.args else type(error).__name__
    elif isinstance(error, sqlite3.Error):
        text = str(unusable(error))
    elif isinstance(error, OSError):
        text = f"{error}; is the disk full?"
    else:
        heading = "A fault in sharebench"
        text = (
            f"{type(error).__name__}: {error}."
            " What was measured is kept. Please report it, with what you did before it."
        )
    return heading, text
