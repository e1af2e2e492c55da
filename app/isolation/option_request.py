"""The request that the options of `sharebench isolate` ask for."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.base.errors import UsageError
from app.clients.base import Secrets
from app.isolation.script import load_script, operations_named
from app.isolation.spec import IsolationRequest
from app.recording.spec import SeriesSpec
from storage.records import Target


def isolation_request(
    target: Target, secrets: Secrets, spec: SeriesSpec, choices: Mapping[str, Any], within_seconds: float
) -> IsolationRequest:
    """``choices`` are the values of the options by name. Raises UsageError."""
    exposed = choices["expose_tbench"]
    if exposed is not None and exposed != target.host:
        raise UsageError(f"--expose-tbench names {exposed}, the target is {target.host}: name that, or leave it out")
    without = operations_named(choices["without"]) if choices["without"] is not None else ()
    script = load_script(choices["script_path"])
    script.without(without)  # refuses what the script does not have

    return IsolationRequest(
        target=target,
        secrets=secrets,
        settings=spec.settings,
        whole_script=script,
        script_path=str(Path(choices["script_path"]).absolute()) if choices["script_path"] else None,
        without=tuple(operation.value for operation in without),
        clients=choices["clients"],
        rounds=choices["rounds"],
        seconds=choices["seconds"],
        label=spec.texts.label,
        question=spec.texts.question,
        link_bits_per_second=spec.link_bits_per_second,
        server_ssh=spec.monitor.server_ssh,
        smb_conf=spec.monitor.smb_conf,
        within_seconds=within_seconds,
        expose_tbench=exposed is not None,
    )
