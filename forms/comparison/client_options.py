"""The settings of this client that two series may differ by, each with the option of ``run`` that makes it.

Two series that differ by nothing else can be measured again with interleaved runs: ``sharebench run --versus OPTIONS``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from forms import wording
from forms.tuning.differences import Difference
from storage import records


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientOption:
    """An option of ``run`` that changes a setting of this client."""

    difference: str
    """What the setting is called as a difference between two series."""
    change: str
    """What it is called as a change from one series to the next."""
    option: str
    """The option as it is typed."""
    is_switch: bool = False
    """Whether it takes no value: it asks for something that is else left to the server."""

    def typed(self, client: records.ClientFacts) -> str:
        """The option with the value that a client had: ``--block 64K``."""
        if self.is_switch:
            return self.option
        value = getattr(client, self.difference.removeprefix("client."))
        return f"{self.option} {self.typed_value(value)}"

    def typed_value(self, value: object) -> str:
        """The value of a difference, as it is typed on the command line."""
        is_size = self.difference == "client.block_bytes"
        return wording.typed_size(value) if is_size and isinstance(value, int) else str(value)


CLIENT_OPTIONS = (
    ClientOption(difference="client.in_flight", change="in-flight", option="--in-flight"),
    ClientOption(difference="client.block_bytes", change="block", option="--block"),
    ClientOption(difference="client.name", change="client", option="--client"),
    ClientOption(difference="settings.sign", change="client sign", option="--sign", is_switch=True),
    ClientOption(difference="settings.encrypt", change="client encrypt", option="--encrypt", is_switch=True),
    ClientOption(difference="flushed", change="flush", option="--flush", is_switch=True),
)

_NEGOTIATED = frozenset({"client.dialect", "client.encryption", "client.signing"})
"""The differences in what client and server agreed on, whether it was asked for or not."""


def option_with_value(difference_name: str) -> ClientOption | None:
    """The option that makes this difference and takes a value; None where there is none."""
    for option in CLIENT_OPTIONS:
        if option.difference == difference_name and not option.is_switch:
            return option
    return None


def versus_options(
    claimed: records.Change | None, differing: Sequence[Difference], other: records.Series
) -> str | None:
    """The options by which a run differs as ``other`` differs from its base; None where options alone do not do it.

    ``claimed`` is the change that somebody said was made; ``differing`` are all known differences.
    """
    different_names = {difference.name for difference in differing}
    # Of a switch the other side must have what it asks for: no option takes it back.
    names_that_other_has = {difference.name for difference in differing if difference.other}
    values = [option for option in CLIENT_OPTIONS if not option.is_switch and option.difference in different_names]
    switches = [option for option in CLIENT_OPTIONS if option.is_switch and option.difference in names_that_other_has]
    if not values and not switches:
        return None

    # What was negotiated otherwise without being asked for, or what the server has, no option can repeat.
    is_negotiated = bool(different_names & _NEGOTIATED) and not switches
    is_of_server = any(difference.parameter for difference in differing)
    is_of_client = claimed is None or claimed.name in {option.change for option in CLIENT_OPTIONS}
    if is_negotiated or is_of_server or not is_of_client:
        return None
    return " ".join(option.typed(other.client) for option in (*values, *switches))
