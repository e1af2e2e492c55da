"""What this machine does beside a measurement, in a few words."""

from typing import TYPE_CHECKING

from forms.wording import byte_rate

if TYPE_CHECKING:
    from app.environment.host.meter import MachineNow


def machine_words(machine: "MachineNow") -> str:
    """This machine in a few words: ``CPU 34 %  eth0 in 118 MB/s, out 1.2 MB/s  0 retransmits``."""
    card = ""
    if machine.interface is not None:
        received, sent = machine.received_bytes_per_second, machine.sent_bytes_per_second
        card = f"  {machine.interface} in {byte_rate(received)}, out {byte_rate(sent)}"
    return f"CPU {machine.cpu_percent:.0f} %{card}  {machine.retransmitted:,} retransmits"
