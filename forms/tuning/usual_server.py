"""What a usual server takes for a request beside the path to it, as it was measured: ``data/usual_server.toml``."""

from collections.abc import Mapping
from typing import Any

from forms.tuning.smb_conf import toml_data


def usual_server() -> Mapping[str, Any]:
    """By the names of ``usual_server.toml``, with the source."""
    server: Mapping[str, Any] = toml_data("usual_server.toml")
    return server


def usual_request_seconds(request: str) -> float:
    """What a usual server takes for a request, named as in ``patterns.toml``."""
    seconds_by_request = usual_server()["seconds"]
    return float(seconds_by_request.get(request, seconds_by_request["other"]))
