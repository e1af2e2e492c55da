"""Whether anything answers at the addresses of a survey, so that stations without a server are left out."""

import socket
from collections.abc import Iterator

from storage.records import Target

ANSWER_SECONDS = 3.0
"""How long a host may take to answer before its stations are left out."""


class Reachability:
    """Which addresses answer; each is tried once."""

    def __init__(self) -> None:
        self._problems: dict[tuple[str, int | None], str] = {}
        """By host and port: why nothing answers there, empty where something does."""

    def problem_of(self, target: Target) -> str:
        """Why nothing answers there, in words; empty where something does."""
        address = (target.host, target.port)
        if address not in self._problems:
            self._problems[address] = _connection_problem(target)
        return self._problems[address]

    def problems(self) -> Iterator[str]:
        """Of all addresses that were tried and do not answer."""
        yield from filter(None, self._problems.values())


def _connection_problem(target: Target) -> str:
    assert target.port
    try:
        with socket.create_connection((target.host, target.port), ANSWER_SECONDS):
            return ""
    except UnicodeError:
        return f"no host can be called {target.host}: check the name"
    except socket.gaierror:
        return f"{target.host}: no host of that name is known; check the name, or give its address"
    except OSError as error:
        command = target.abilities.server_command
        todo = f"{command} there starts a server" if command else "name its port if it is another one"
        reason = (error.strerror or str(error)).lower()
        return f"no answer on {target.host} port {target.port} ({reason}): {todo}"
