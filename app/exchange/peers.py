"""Shares notebooks through ssh: ``push`` sends a host what it lacks, ``pull`` imports what it has.

What people wrote on either side is merged. On the host the command ``sharebench share-worker WORD`` runs: ``state``
answers what the notebook there has, ``give`` sends the recordings whose ids stand on stdin, ``take`` takes in those
that stand on stdin. A message is a part of at most 64 MiB, and parts are asked for until nothing is missing.
"""

import json
from collections.abc import Container, Iterator
from contextlib import contextmanager

from app.base import limits
from app.base.errors import MeasurementError
from app.exchange.giving import State, next_part, notebook_state
from app.exchange.taking import LONGEST_PROBLEM, Taken, take
from app.server.running_program import RunningProgram
from app.server.shell import ServerShell
from forms.importers import value_of
from storage.json_reader import DocumentError, JSONNode
from storage.notebook import Notebook

NEEDED_VERSION = "0.3.0"
"""The first with a share-worker."""
SILENT_SECONDS = 20.0
"""A worker gives a sign of life every few seconds, so only one that is dead or does not want to is silent so long."""
_MOST_MEMORY_BYTES = 310_000_000
"""Less than for a file: an answer of 64 MiB is in memory twice while it is read, and 500 MB are for all."""
_WORKER = 'PATH="$PATH:$HOME/.local/bin"; export PATH; exec sharebench share-worker'
_SHOWN_ID_LENGTH = 40


def pull(notebook: Notebook, host: str, outcome: Taken | None = None) -> Taken:
    """Import what ``[USER@]HOST`` has and this notebook lacks; ``outcome`` holds what came before an error.

    Raises UsageError, MeasurementError.
    """
    outcome = outcome or Taken()
    missing_ids = _differing_ids(_state_of_host(host), notebook_state(notebook))
    while missing_ids:
        answer = _ask(host, "give", json.dumps(missing_ids))
        try:
            with limit_part(f"what {host} sent"):
                sent_ids, outcome_of_part = _take_answer(notebook, answer, host)
        except DocumentError as error:
            text = f"{host} sent what is no recording: {error}; nothing of that part is kept"
            raise MeasurementError(text) from error
        outcome.add(outcome_of_part)

        remaining = [recording_id for recording_id in missing_ids if recording_id not in sent_ids]
        if len(remaining) == len(missing_ids):
            # A host that sends nothing more of what was asked for would be asked for ever.
            break
        missing_ids = remaining
    return outcome


def _take_answer(notebook: Notebook, answer: bytes, host: str) -> tuple[set[str], Taken]:
    """The ids that the host has dealt with, and what came of what it sent. Raises DocumentError for a missing part."""
    place = JSONNode("", value_of(answer)).object()
    sent_ids = place.at("ids").filled().read(tuple[str, ...])
    return set(sent_ids), take(notebook, place.at("entries").filled().value, host)


def push(notebook: Notebook, host: str, outcome: Taken | None = None) -> Taken:
    """Export what ``[USER@]HOST`` lacks; ``outcome`` holds what came before an error. Raises as :func:`pull`."""
    outcome = outcome or Taken()
    missing_ids = _differing_ids(notebook_state(notebook), _state_of_host(host))
    while missing_ids:
        ids_dealt_with, entries = next_part(notebook, missing_ids)
        sent_ids = set(ids_dealt_with)

        answer = _ask(host, "take", json.dumps(entries))
        try:
            with limit_part(f"what {host} answered"):
                outcome.add(_read_outcome(value_of(answer), sent_ids))
        except DocumentError as error:
            raise MeasurementError(f"{host} gave no answer that can be read: {error}") from error
        missing_ids = [recording_id for recording_id in missing_ids if recording_id not in sent_ids]
    return outcome


def _read_outcome(answer: object, sent_ids: Container[str]) -> Taken:
    """What the host says that came of what was sent; ids that were not sent are left out. Raises DocumentError."""
    place = JSONNode("", answer).object()
    new = place.at("new").filled().read(tuple[str, ...])
    changed = place.at("changed").filled().read(tuple[str, ...])
    problems = place.at("problems").filled().read(tuple[str, ...])
    return Taken(
        [recording_id for recording_id in new if recording_id in sent_ids],
        [recording_id for recording_id in changed if recording_id in sent_ids],
        [problem[:LONGEST_PROBLEM] for problem in problems],
    )


@contextmanager
def limit_part(subject: str) -> Iterator[None]:
    """Raises MeasurementError where the subject takes more memory or time than a part of a notebook may."""
    try:
        with limits.limit_memory(_MOST_MEMORY_BYTES), limits.limit_processor_time():
            yield
    except MemoryError as error:
        text = f"{subject} takes more than {_MOST_MEMORY_BYTES // 10**6} MB of memory; nothing of that part is kept"
        raise MeasurementError(text) from error
    except limits.TooMuchTimeError as error:
        most_seconds = f"{limits.MOST_PROCESSOR_SECONDS:.0f} s"
        text = f"{subject} takes more than {most_seconds} of the processor; nothing of that part is kept"
        raise MeasurementError(text) from error


def _ask(host: str, word: str, text: str = "") -> bytes:
    """What the worker on the host answers to a word, given the text on stdin. Raises MeasurementError."""
    must = f"`ssh {host} sharebench --version` must work without a question, and show {NEEDED_VERSION} or newer"

    try:
        program = RunningProgram(ServerShell(host).words(f"{_WORKER} {word}"), text=text, most_bytes=limits.MOST_BYTES)
    except OSError as error:
        raise MeasurementError(f"no notebook on {host}: `ssh` cannot be run here ({error.strerror})") from error

    answer, ending = program.wait_while_it_moves(SILENT_SECONDS)
    if ending.problem or ending.code:
        raise MeasurementError(f"no notebook on {host}: {ending.last_words}; {must}")
    return answer


def _state_of_host(host: str) -> State:
    """What the host's notebook has. Raises MeasurementError."""
    answer = _ask(host, "state")
    try:
        with limit_part(f"what {host} says that it has"):
            return _read_state(value_of(answer))
    except DocumentError as error:
        must = f"`ssh {host} sharebench --version` must show {NEEDED_VERSION} or newer"
        raise MeasurementError(f"no notebook on {host}: it did not say what it has ({error}); {must}") from error


def _read_state(value: object) -> State:
    """Raises DocumentError."""
    state: State = JSONNode("", value).object().value
    for recording_id, progress in state.items():
        is_sound = isinstance(progress, list) and all(isinstance(part, str | int) for part in progress)
        if not is_sound:
            raise JSONNode(recording_id[:_SHOWN_ID_LENGTH], progress).wrong("a digest and two numbers")
    return state


def _differing_ids(source: State, destination: State) -> list[str]:
    """The ids of what the source has, and the destination has not or has otherwise."""
    return [recording_id for recording_id, progress in source.items() if progress != destination.get(recording_id)]
