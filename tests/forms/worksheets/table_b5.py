"""The machines of tables B-5 and B-10, step by step."""

from forms.worksheets.references import TABLES, ReferenceKind, find
from forms.worksheets.summary import BottleneckCalculation, Machine, Part


def component(kind: ReferenceKind, name: str, count: int = 1) -> Part:
    found = find(kind, name, TABLES)
    return Part(name=found.name, bytes_per_second=found.bytes_per_second, count=count, source=found.source)


def sparc(disks: int, networks: int, network: str = "10 Mb/s Ethernet (1999)", name: str = "") -> Machine:
    """The machine of tables B-5 and B-10: its CPU counts as 6,000 KB/s in all of the rows but one."""
    return Machine(
        name=name,
        cpu=component(ReferenceKind.CPU, "Sun SPARC 10"),
        disk=component(ReferenceKind.DISK, "7200 RPM disk", disks),
        network=component(ReferenceKind.NETWORK, network, networks),
    )


STEPS = (
    sparc(1, 1, name="Dual SPARC 10, 1 disk"),
    sparc(6, 1, name="Add 5 more disks"),
    sparc(6, 4, name="Add 3 more Ethernets"),
    sparc(20, 4, name="Change to using a 20-disk array"),
    sparc(20, 2, "100 Mb/s Ethernet (1999)", name="Use dual 100 Mbps ether"),
)
B5 = BottleneckCalculation(machines=STEPS)
