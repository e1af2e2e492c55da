"""What is asked before an isolation: the lines to fill in, what stands in them at first, and how they are read."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.clients.base import Secrets
from app.errors import UsageError
from app.isolation.request import DEFAULT_ROUNDS, DEFAULT_SECONDS, MOST_CLIENTS, IsolationRequest
from app.isolation.script import load_script, operations_named
from app.server.shell import check_ssh_host
from app.targets import parse_typed_target
from app.tui.widgets.lines_screen import FormLine, remembered_values, typed_values
from app.workflows.guide.state.profiles import server_of
from storage.records import JSONValue, Target
from storage.target_url import format_target

MEMORY_KEY = "isolation"
"""Under which the notebook keeps what was typed last."""
_MOST_ROUNDS = 100


LINES = (
    FormLine(key="target", name="Share", hint="[USER@]HOST/SHARE, smb://USER@HOST:PORT/SHARE, or @NAME"),
    FormLine(key="clients", name="Clients", hint="how many at once, such as 1,4,8", usual="1,4,8"),
    FormLine(key="rounds", name="Rounds", hint="how often each is measured", usual=str(DEFAULT_ROUNDS)),
    FormLine(key="without", name="Without", hint="such as find_first,query_path_information; empty: all"),
    FormLine(key="ssh", name="Server by ssh", hint="[USER@]HOST; empty: the server is this machine"),
    FormLine(key="conf", name="smb.conf", hint="where the server keeps it; empty: where smbd looks"),
    FormLine(key="expose", name="Expose tbench", hint="the host again, to allow tbench_srv there; empty: no"),
)


def first_values(remembered: Mapping[str, JSONValue] | None, practice: Sequence[Target]) -> dict[str, str]:
    """What stands in the lines: what was typed last, else the practice server's share where it is ready."""
    known = dict(remembered or {})
    share = next((target for target in practice if target.abilities.has_share), None)
    if share is not None:
        ready = format_target(replace(share, path=""))
        typed = str(known.get("target") or ready)
        of_another_day = typed.startswith(ready.partition(f":{share.port}/")[0]) and not typed.startswith(ready)
        known["target"] = ready if of_another_day else typed
    return remembered_values(LINES, known)


def target_of(typed: Mapping[str, str]) -> Target:
    """The share that the lines name. Raises UsageError."""
    text = typed.get("target", "").strip()
    if not text:
        raise UsageError("which share? type [USER@]HOST/SHARE, or smb://USER@HOST/SHARE")
    target = parse_typed_target(text)
    if not target.abilities.has_share or not target.share:
        raise UsageError("isolate needs a share: smb://HOST/SHARE, or smb://HOST/SHARE/FOLDER")
    return target


def read_request(typed: Mapping[str, str], target: Target, secrets: Secrets) -> IsolationRequest:
    """What the lines ask for. Raises UsageError with what is wrong."""
    text = typed_values(LINES, typed)
    if text["ssh"]:
        check_ssh_host(text["ssh"], "Server by ssh")
    if text["expose"] not in {"", target.host}:
        raise UsageError(
            f"tbench is to be exposed on {text['expose']}, the server is {target.host}: type that, or none"
        )
    without = operations_named(text["without"]) if text["without"] else ()
    script, server = load_script(), server_of(target)
    script.without(without)
    return IsolationRequest(
        target=target,
        secrets=secrets,
        whole_script=script,
        without=tuple(operation.value for operation in without),
        clients=_numbers(text["clients"]),
        rounds=_rounds(text["rounds"]),
        seconds=DEFAULT_SECONDS,
        server_ssh=text["ssh"] or (server.ssh if server else "") or None,
        smb_conf=text["conf"] or (server.smb_conf if server else "") or None,
        expose_tbench=bool(text["expose"]),
    )


def _numbers(text: str) -> tuple[int, ...]:
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and 1 <= int(word) <= MOST_CLIENTS for word in words):
        raise UsageError(f"{text!r} is no list of numbers from 1 to {MOST_CLIENTS}, such as 1,4,8")
    return tuple(sorted({int(word) for word in words}))


def _rounds(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= _MOST_ROUNDS:
        raise UsageError(f"not a number of rounds: {text!r}; {DEFAULT_ROUNDS} is usual, more make the verdict surer")
    return int(text)
