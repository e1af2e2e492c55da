"""What is asked before a load: the lines to fill in, what stands in them at first, and how they are read."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress

from app.clients.base import Secrets
from app.errors import UsageError
from app.load.scenario import NAMES, changed, find_scenario, parse_users
from app.server.shell import check_ssh_host
from app.targets import parse_typed_target
from app.tui.widgets.lines_screen import FormLine, remembered_values, typed_values, usual_values
from app.workflows.guide.state.profiles import server_of
from app.workflows.load import LoadRequest
from storage.loads.records import Load, LoadChoices
from storage.records import JSONValue, Target
from storage.target_url import format_target

MEMORY_KEY = "load"
"""Under which the notebook keeps what was typed last."""
CAPACITY = "capacity"
"""What stands in place of numbers of users where the most that are carried are looked for."""


LINES = (
    FormLine(key="target", name="Target", hint="[USER@]HOST/SHARE/FOLDER, or @NAME of a server; ftp://… too"),
    FormLine(key="users", name="Users", hint=f"such as 10,20,40 or 10..200/10, or {CAPACITY}", usual="5,10,20"),
    FormLine(key="scenario", name="Scenario", hint=f"{', '.join(NAMES)}, or a file", usual="redpaper"),
    FormLine(key="files", name="Files", hint="how many; empty: as the scenario says"),
    FormLine(key="duration", name="Steady", hint="seconds that count, each point; empty: as the scenario says"),
    FormLine(key="settle", name="Settle", hint="seconds before they count; empty: as the scenario says"),
    FormLine(key="ssh", name="Server by ssh", hint="[USER@]HOST for its CPU and memory; empty: this machine or none"),
)


def first_values(remembered: Mapping[str, JSONValue] | None, practice: Sequence[Target]) -> dict[str, str]:
    """What stands in the lines: the practice server where it is ready, else what was typed last."""
    smb = next((target for target in practice if target.abilities.has_share), None)
    if smb is not None:
        folder = format_target(smb).rpartition("/")[0] if smb.path else format_target(smb)
        return usual_values(LINES) | {"target": folder, "files": "200", "duration": "10", "settle": "2"}
    return remembered_values(LINES, remembered)


def read_request(typed: Mapping[str, str], secrets: Secrets) -> LoadRequest:
    """What the lines ask for. Raises UsageError with what is wrong."""
    text = typed_values(LINES, typed)
    if text["ssh"]:
        check_ssh_host(text["ssh"], "Server by ssh")
    target = read_target(typed)
    server = server_of(target)
    capacity = text["users"].lower() == CAPACITY
    scenario = changed(
        find_scenario(text["scenario"] or "redpaper"),
        files=int(_number("Files", text["files"], 1, 1e7)) if text["files"] else None,
        duration=_number("Steady", text["duration"], 1, 7 * 86400) if text["duration"] else None,
        settle=_number("Settle", text["settle"], 0, 86400) if text["settle"] else None,
    )
    return LoadRequest(
        targets=(target,),
        secrets=secrets,
        scenario=scenario,
        choices=LoadChoices(
            users=() if capacity else parse_users(text["users"] or "5,10,20"),
            find_capacity=capacity,
            processes=len(os.sched_getaffinity(0)),
        ),
        server_ssh=text["ssh"] or (server.ssh if server else "") or None,
        smb_conf=(server.smb_conf if server else "") or None,
    )


def request_to_resume(load: Load, secrets: Secrets, typed: Mapping[str, JSONValue]) -> LoadRequest:
    """What goes on with a stored load; its server is looked at by the ssh that was typed for its host."""
    server, ssh = server_of(load.targets[0]), ""
    with suppress(UsageError):
        if parse_typed_target(str(typed.get("target", ""))).host == load.targets[0].host:
            ssh = str(typed.get("ssh", "")).strip()
    return LoadRequest(
        targets=load.targets,
        secrets=secrets,
        scenario=load.scenario,
        choices=load.choices,
        server_ssh=ssh or (server.ssh if server else "") or None,
        smb_conf=(server.smb_conf if server else "") or None,
    )


def read_target(typed: Mapping[str, str]) -> Target:
    """The target that is typed. Raises UsageError."""
    text = typed.get("target", "").strip()
    if not text:
        raise UsageError("which server? type [USER@]HOST/SHARE/FOLDER, or smb://USER@HOST/SHARE/FOLDER")
    target = parse_typed_target(text)
    if not target.abilities.moves_files or (target.abilities.has_share and not target.share):
        raise UsageError("name the folder that the users shall work in, such as smb://HOST/SHARE/FOLDER")
    return target


def _number(name: str, text: str, least: float, most: float) -> float:
    try:
        found = float(text)
    except ValueError:
        found = least - 1
    if not least <= found <= most:
        raise UsageError(f"{name}: expected a number from {least:g} to {most:g}, found {text!r}")
    return found
