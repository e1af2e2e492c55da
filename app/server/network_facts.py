"""Facts of the network card by which a server answers, from what ``probe.sh`` printed there."""

from app.server import link_facts
from app.server.host_facts import whole_number
from app.server.shell import Answer
from storage.records import FactValue

_NETWORK_TEXTS = {
    "link.interface": "outward",
    "link.inward_interface": "inward",
    "link.driver": "nic:driver",
    "link.duplex": "nic:duplex",
    "card.firmware": "nic:firmware",
}
"""Facts and the sections that hold them."""
_ERROR_WORDS = {"errors": "errors", "drops": "dropped"}
"""Our word and the kernel's, in the names of its counters."""
_OFFLOADS = {
    "tcp-segmentation-offload": "link.tso",
    "generic-segmentation-offload": "link.gso",
    "generic-receive-offload": "link.gro",
}


def network_facts(answer: Answer) -> dict[str, FactValue]:
    """Of the interface that carries the answers, and the one that requests come by."""
    facts: dict[str, FactValue] = {}
    for name, section in _NETWORK_TEXTS.items():
        text = answer.stripped(section)
        if text and text != "unknown":
            facts[name] = text
    if facts.get("link.interface") == "lo":
        facts["link.inward_interface"] = "lo"
    if "link.interface" not in facts:
        return facts

    for line in (answer.text("nic:offloads") or "").splitlines():
        name, _, state = line.strip().partition(": ")
        if name in _OFFLOADS and state in {"on", "off"}:  # "off [fixed]" cannot be changed
            facts[_OFFLOADS[name]] = state
    facts["link.cards_up"] = len((answer.text("interfaces") or "").split())

    shaper = link_facts.parse_shaper(answer.text("shaper"))
    if answer.text("shaper") is not None:
        facts["link.shaper"] = shaper.kind if shaper else "none"
    if shaper and shaper.bits_per_second:
        facts["link.shaper_bits_per_second"] = shaper.bits_per_second

    mtu = _number(answer, "nic:mtu")
    if mtu:
        facts["link.mtu_bytes"] = mtu
    # Without a driver the interface is made up, and so is its speed.
    megabits = _number(answer, "nic:speed")
    if megabits and megabits > 0 and "link.driver" in facts:
        facts["link.card_rate_bits_per_second"] = megabits * 1_000_000

    for word, kernel_word in _ERROR_WORDS.items():
        counts = [_number(answer, f"nic:statistics/{direction}_{kernel_word}") for direction in ("rx", "tx")]
        facts[f"link.{word}_before"] = sum(count or 0 for count in counts)
    return facts


def _number(answer: Answer, section: str) -> int | None:
    """The section's first word as a number; None where it is none."""
    return whole_number((answer.text(section) or "").split())
