"""Runs the command of ``watch --on-change`` when the standing of a watch has changed, and notes that it was told."""

import json
import os
from dataclasses import replace
from pathlib import Path

from app.recording.rescue import open_notebook
from storage.programs import run_program
from storage.watch.records import Watch, recording_of_watch

COMMAND_SECONDS = 60.0
"""How long the command of --on-change may take."""


def tell(document: object, command: str) -> str:
    """Run the command with the document, a check as JSON, on its stdin.

    Returns why that failed, and else an empty text; it is then run again after the next check.
    """
    secret_names = {"SHAREBENCH_PASSWORD", "CREDENTIALS_DIRECTORY"}
    environment = {name: value for name, value in os.environ.items() if name not in secret_names}
    try:
        result = run_program(
            ["/bin/sh", "-c", command],
            seconds=COMMAND_SECONDS,
            given=f"{json.dumps(document)}\n".encode(),
            environment=environment,
            keeps_output=False,
        )
    except OSError as error:
        return f"the command of --on-change failed: {error}"

    if result.code:
        return f"the command of --on-change ended with exit code {result.code}; it is run again after the next check"
    return ""


def mark_delivered(watch: Watch, path: Path) -> None:
    """Note in the notebook at ``path`` that the standing of a watch was told."""
    with open_notebook(path) as notebook:
        notebook.update_recording(recording_of_watch(replace(watch, told=watch.standing)))
