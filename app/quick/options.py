"""The request that the options of ``sharebench quick`` ask for."""

from typing import Any

import click

from app.cli import logins
from app.quick import spec as quick_spec
from app.recording.spec import SeriesSpec


def quick_request(
    context: click.Context, url: str, spec: SeriesSpec, choices: dict[str, Any]
) -> quick_spec.QuickRequest:
    place, secrets = logins.target_and_secrets(context, url, kerberos=choices["kerberos"])

    request = quick_spec.QuickRequest(
        target=place,
        secrets=secrets,
        settings=spec.settings,
        size_bytes=choices["file_bytes"],
        run_seconds=choices["run_seconds"],
        link_bits_per_second=spec.link_bits_per_second,
        server_ssh=spec.monitor.server_ssh,
        smb_conf=spec.monitor.smb_conf,
        label=spec.texts.label,
        note=spec.texts.note,
        question=spec.texts.question,
        # Where there are several, each measures the same.
        from_host=next(iter(choices["from_hosts"]), None),
    )
    quick_spec.check_request(request)
    return request
